#pragma once
// What a cluster does while it is troubled, and how it is known that it did it right. A workload is
// the programs of the slots, and a check of what they saw; it knows nothing of faults, and faults
// know nothing of it. Three are a table and what a slot pushes in a clock (table_workload); a
// fourth is whatever a job file says (job.cpp).

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/scheduler/coordinator.hpp"
#include "actors/scheduler/evaluation.hpp"
#include "actors/worker/program.hpp"
#include "apps/chaos/ledger.hpp"
#include "config/scenario.hpp"
#include "messages/filters/chain.hpp"

namespace troupe::chaos {

struct workload_settings {
  std::uint32_t slots = 1;
  std::uint64_t clocks = 1;
  std::uint32_t keys = 1;  // of a push, at most
  std::uint64_t key_space = 1;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> staleness = 0;  // none: asynchronous
  std::string combine = "each";
  std::string updater = "adagrad";
  std::uint64_t key_sets = 0;  // that a slot goes through in turn; 0: each clock has its own
  // A bulk-synchronous job must read what it reads without faults, bit for bit.
  bool same_bits = true;
  // Clocks whose pushes are no numbers: they count as empty.
  std::set<std::pair<std::uint32_t, std::uint64_t>> spoiled;
  // More may be lost than there are copies of: what was acknowledged may be gone.
  bool loss = false;

  bool bulk_synchronous() const { return staleness && *staleness == 0; }
};
workload_settings settings_of(const config::Scenario& scenario);

// A promise that was broken.
struct violation {
  std::string promise;  // "exactly once"
  std::string text;     // what was seen, and what had to be
  instant at;
};

// Judges a history, entry by entry, in the order in which it happened.
class history_check {
 public:
  virtual ~history_check() = default;
  virtual void on(const ledger_entry& entry) = 0;
  // The whole cluster went down, and another begins with a checkpoint.
  virtual void on_restored() = 0;
  // What the same check saw in a run without faults.
  virtual void compare_with(std::shared_ptr<const history_check>) {}
  // The job has finished; what the scheduler says of its end.
  virtual void on_finished(const pb::JobStatus& end) = 0;
  const std::vector<violation>& found() const { return found_; }

 protected:
  static constexpr std::size_t most = 20;
  void report(std::string promise, std::string text, instant at) {
    if (found_.size() < most) found_.push_back({std::move(promise), std::move(text), at});
  }

 private:
  std::vector<violation> found_;
};

// Its part of a cluster.
struct workload_parts {
  // The plan's tables and consistency, and what is measured, and when. The rest is the scenario's.
  job_settings job;
  std::shared_ptr<application> app;
  std::shared_ptr<evaluation> scores;
};

// Held by a shared_ptr.
class workload : public std::enable_shared_from_this<workload> {
 public:
  virtual ~workload() = default;
  // `first_life`: lives of slots are numbered from there, so that they are unique over processes.
  virtual workload_parts parts(const config::Scenario& scenario, std::shared_ptr<ledger> seen,
                               std::uint64_t first_life) const = 0;
  virtual std::unique_ptr<history_check> check() const = 0;
  // Whether it must be compared with a run without faults.
  virtual bool wants_calm_run() const { return false; }
};

class table_workload : public workload {
 public:
  explicit table_workload(workload_settings settings) : s_(std::move(settings)) {}
  const workload_settings& settings() const { return s_; }

  virtual pb::TableSpec table() const = 0;
  // The numbers of a push, given what was pulled: one to each key.
  virtual std::vector<double> push_of(std::uint32_t slot, std::uint64_t clock,
                                      const std::vector<double>& pulled) const = 0;
  // Of a workload of whole numbers whose check counts on every bit of them: the largest that
  // travels that way. Nothing: any numbers.
  virtual std::optional<double> largest_whole_number(direction) const { return std::nullopt; }

  // Every clock a slot pulls its keys and pushes to them, and at the end all keys are read once.
  // The table has the scenario's filters.
  workload_parts parts(const config::Scenario& scenario, std::shared_ptr<ledger> seen,
                       std::uint64_t first_life) const override;

  // Places of the keys of a clock, below key_space, ascending and distinct.
  std::vector<std::uint64_t> places_of(std::uint32_t slot, std::uint64_t clock) const;

 protected:
  const workload_settings s_;
};

// The number of the key at a place: spread over the whole ring.
key_id key_at(std::uint64_t place);

std::unique_ptr<table_workload> counters(workload_settings settings);
std::unique_ptr<table_workload> registers(workload_settings settings);
std::unique_ptr<table_workload> training(workload_settings settings);
// The one of these that the scenario names; of a job file training, which stands for it.
std::unique_ptr<table_workload> table_workload_of(const config::Scenario& scenario);
// The job of the scenario's file, on the scenario's cluster. Its data are opened, and their cache
// is made where there is none. Errors are those of the job.
result<std::unique_ptr<workload>> job_workload(const config::Scenario& scenario);
result<std::unique_ptr<workload>> make_workload(const config::Scenario& scenario);

// Server functions that workloads need beside the built-in ones. Done once; again does nothing.
void register_functions();

}  // namespace troupe::chaos
