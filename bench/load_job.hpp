#pragma once
// What the jobs of benchmarks have in common: tables to push to, and nothing to score.

#include "actors/scheduler/no_evaluation.hpp"
#include "actors/worker/program.hpp"
#include "apps/local/cluster_settings.hpp"
#include "messages/control.pb.h"

namespace troupe::bench {

// f32, function "add", a step to each push.
inline pb::TableSpec& add_table(pb::JobPlan& plan, const char* name, const char* kind = "sparse",
                                std::uint32_t width = 1) {
  auto* table = plan.add_tables();
  table->set_name(name);
  table->set_kind(kind);
  table->set_value_type("f32");
  table->set_width(width);
  table->set_combine("each");
  table->set_function("add");
  table->set_schedule("constant");
  table->set_clip("none");
  table->set_initialiser("zero");
  return *table;
}

// Nobody is given up for being slow.
inline pb::Timings* patient_timings(pb::JobPlan& plan) {
  using namespace std::chrono_literals;
  auto* t = plan.mutable_timings();
  t->set_request_timeout(duration(60s).count());
  t->set_hold(duration(1s).count());
  t->set_patience(duration(600s).count());
  t->set_backoff(duration(5ms).count());
  t->set_backoff_limit(duration(50ms).count());
  t->set_pull_retries(1000);
  t->set_window(4);
  return t;
}

inline void scores_nothing(cluster_settings& cluster, std::shared_ptr<application> app) {
  cluster.scheduler.scores = std::make_shared<no_evaluation>();
  cluster.worker.app = std::move(app);
  cluster.worker.faults = std::make_shared<fault_switches>();
  cluster.files = posix_file_system();
}

class load_only : public application {
 public:
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask&, meter&) override {
    return error{errc::bad_request, "nothing to score"};
  }
};

}  // namespace troupe::bench
