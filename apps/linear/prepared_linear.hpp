#pragma once
// What learns in a job of the linear app, before there is a cluster: its data opened (and their
// cache made, where there is none), its tables planned, its programs made.

#include <memory>

#include "actors/scheduler/coordinator.hpp"
#include "apps/linear/linear_application.hpp"
#include "apps/linear/linear_job.hpp"
#include "config/job.hpp"
#include "core/file.hpp"
#include "core/meter.hpp"
#include "core/result.hpp"

namespace troupe {

// The parts of a plan that do not depend on what is learned.
pb::JobPlan plan_of_tables(const config::Job& job, const std::vector<pb::TableSpec>& tables);

struct prepared_linear {
  config::Job job;  // as it is run: with what its solver fixes
  linear_job made;
  linear_application::data_sets data;
  job_settings settings;  // the plan, and what is measured, and when; nothing of the cluster
  std::shared_ptr<application> app;

  const dataset& train() const { return *data.at("train"); }
  const dataset* find(const char* name) const {  // null: there is none
    const auto found = data.find(name);
    return found == data.end() ? nullptr : found->second.get();
  }
};

// `work_done` outlives the data sets. Errors name the key of the configuration, or the file and
// line, that is wrong.
result<prepared_linear> prepare_linear(const config::Job& job, std::shared_ptr<file_system> files,
                                       meter& work_done);

}  // namespace troupe
