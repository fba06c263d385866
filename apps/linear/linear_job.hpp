#pragma once
// From a job's configuration and data to all that the linear app needs. Pure: nothing is started.

#include <memory>
#include <vector>

#include "actors/worker/data/dataset.hpp"
#include "apps/evaluation/metric_set.hpp"
#include "apps/linear/linear_program.hpp"
#include "config/job.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

struct linear_job {
  linear_training training;
  std::vector<pb::TableSpec> tables;  // weights, then bias
  metric_settings metrics;
};

// Facts of all rows of the data sets. `test` may be null. Errors name the key of the configuration,
// or the labels, that do not fit.
result<linear_job> make_linear_job(const config::Job& job, const data_facts& train,
                                   const data_facts* test);

// How a data set of the job is read.
data_options data_options_of(const config::Job& job);

// The metrics of a model with these penalties.
metric_settings metric_settings_of(const linear_model& model, std::vector<table_penalty> penalties);

}  // namespace troupe
