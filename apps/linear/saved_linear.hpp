#pragma once
// Linear models on disk: how a job describes its model, and how a saved one is measured. Scoring
// goes through the same arithmetic, in the same order, as an evaluation during a job, so the
// figures agree to the last digit.

#include <memory>
#include <string>
#include <vector>

#include "actors/worker/data/batch.hpp"
#include "actors/worker/data/dataset.hpp"
#include "apps/evaluation/metric_set.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/linear/linear_model.hpp"
#include "apps/model/model_folder.hpp"
#include "config/job.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// What model_folder::publish() takes as its description.
pb::ModelManifest describe_model(const config::Job& job, const linear_job& made);

// errc::damaged: the manifest is not that of a linear model.
result<linear_model> linear_model_of(const saved_model& saved);

// A model's folder, read and understood.
struct opened_linear {
  saved_model saved;
  linear_model model;
  config::Job job;  // that the model was made by, with some of its keys replaced
};
result<opened_linear> open_linear(file_system& files, const std::string& folder,
                                  const config::overrides& set);
// The bias's value; 0 without one.
result<double> saved_bias(const saved_model& saved, const linear_model& model);
// What its scores are measured by.
metric_settings metric_settings_of(const saved_model& saved, const linear_model& model,
                                   const config::Job& job);
// The margins of a batch, without any offset.
result<void> score_saved_batch(const saved_model& saved, const linear_model& model, double bias,
                               const batch& rows, std::vector<double>& margins);

// Adds the scores of all rows, in their order, under the name `set`.
result<void> score_saved(const saved_model& saved, const linear_model& model, const dataset& data,
                         const std::string& set, metric_set& into);

struct evaluate_options {
  std::string model;              // the folder
  std::vector<std::string> data;  // files; none: the job's own
  bool train = false;             // the files are the training data: figures are named so, and
                                  // there is an objective
  config::overrides set;          // of the job saved with the model: data.format, data.cache, ...
};

// The figures of a saved model. They are named test_..., or train_... .
result<std::vector<pb::Metric>> evaluate_saved(std::shared_ptr<file_system> files,
                                               const evaluate_options& options);

}  // namespace troupe
