#pragma once
// A saved linear model's scores of text rows, from front to back in bounded memory.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/linear/linear_evaluation.hpp"
#include "apps/linear/saved_linear.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// One row's, in the order of the rows.
struct predicted_row {
  std::optional<std::string_view> id;
  double score = 0;  // <weights, x> + bias, corrected for dropped negative rows
};

struct predict_options {
  std::string model;               // the folder
  std::vector<std::string> files;  // "-": standard input
  config::overrides set;           // of the job saved with the model
  bool metrics = false;            // measure too: every row needs a label then. 9 bytes a row
  std::uint64_t batch_rows = linear_evaluation::batch_rows;  // scored together
};

struct prediction {
  std::uint64_t rows = 0, labelled = 0;
  std::uint64_t bad_rows = 0;       // passed over, as data.max_bad_rows allows
  std::vector<std::string> bad;     // the first of them, "file:line:column: reason"
  std::vector<pb::Metric> metrics;  // "test_..."
};

// What scores mean: a probability where the loss is the logistic one, and a label where there are
// classes, as the data write it.
struct score_reading {
  bool probabilities = false;
  std::optional<double> negative, positive;
  double threshold = 0;
  std::map<double, std::string> words;  // for labels that the data write as words
  double probability(double score) const;
  double label(double score) const;  // the score itself where there are no classes
};

struct prediction_listener {
  std::function<void(const score_reading&)> begin;  // the model has been read
  std::function<result<void>(const predicted_row&)> row;
  std::function<result<void>()> batch;  // behind the rows that were scored together
};

// Labels may be missing. Each row is scored by the arithmetic of an evaluation, in its order, so
// metrics are those of a job to the last digit.
result<prediction> predict(std::shared_ptr<file_system> files, const predict_options& options,
                           const prediction_listener& listener);

}  // namespace troupe
