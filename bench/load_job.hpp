#pragma once
// What the jobs of benchmarks have in common: tables to push to, and nothing to score.

#include "actors/scheduler/no_evaluation.hpp"
#include "actors/worker/program.hpp"
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

class load_only : public application {
 public:
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask&, meter&) override {
    return error{errc::bad_request, "nothing to score"};
  }
};

}  // namespace troupe::bench
