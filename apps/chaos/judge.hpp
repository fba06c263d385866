#pragma once
// What every target does with what it sees: hands the ledger to the workload's check, adds what
// must hold of any job, and puts the outcome together.

#include <memory>
#include <optional>
#include <set>

#include "apps/chaos/outcome.hpp"
#include "config/scenario.hpp"

namespace troupe::chaos {

class judge {
 public:
  // `calm`: the check of a run without faults, for workloads that want one.
  judge(const config::Scenario& scenario, std::shared_ptr<const workload> what,
        std::shared_ptr<const history_check> calm = nullptr);

  void on(const ledger_entry& entry);
  void on_restored() { check_->on_restored(); }
  // Something of the targets' own that must not be.
  void report(violation v) { others_.push_back(std::move(v)); }
  // What the scheduler says of itself meanwhile.
  void on_status(const pb::JobStatus& status, instant at);

  bool broken() const { return !others_.empty() || !check_->found().empty(); }
  // The job has ended, or not within its deadline.
  void end(const pb::JobStatus& status, bool in_time, instant at, run_outcome& into);
  std::shared_ptr<const history_check> check() const { return check_; }

 private:
  void judge_end(const pb::JobStatus& status, bool in_time, instant at);
  void add_recoveries(run_outcome& into) const;

  const config::Scenario& scenario_;
  const std::shared_ptr<const workload> what_;
  std::shared_ptr<history_check> check_;
  std::vector<violation> others_;
  std::uint64_t pushes_ = 0, acknowledged_ = 0, reads_ = 0;
  std::set<std::pair<std::uint32_t, std::uint64_t>> lives_of_slots_;
  std::vector<std::pair<instant, std::uint32_t>> progress_;  // acknowledgements and their slots
};

}  // namespace troupe::chaos
