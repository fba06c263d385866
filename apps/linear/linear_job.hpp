#pragma once
// From a job's configuration and data to all that the linear app needs. Pure: nothing is started.

#include <memory>
#include <string>
#include <vector>

#include "actors/scheduler/early_stopping.hpp"
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
  std::vector<std::string> measure;  // the data sets that are scored during training
  early_stopping_settings stopping;
};

// What is known of a job's data. Test and validation may be null, and so may the labels of an
// earlier model, which hold for this one where the job names none.
struct known_data {
  const data_facts* train = nullptr;
  const data_facts* test = nullptr;
  const data_facts* validation = nullptr;
  const label_map* earlier_labels = nullptr;
};

// Errors name the key of the configuration, or the labels, that do not fit.
result<linear_job> make_linear_job(const config::Job& job, const known_data& data);

// How a data set of the job is read. What trains is sampled and leaves out what validates; further
// rows are taken as they are.
enum class data_role { train, validation, other };
data_options data_options_of(const config::Job& job, data_role role = data_role::other);

// The metrics of a model with these penalties.
metric_settings metric_settings_of(const linear_model& model, std::vector<table_penalty> penalties);

}  // namespace troupe
