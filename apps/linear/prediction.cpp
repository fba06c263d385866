#include "apps/linear/prediction.hpp"

#include <numeric>

#include "actors/worker/data/block_builder.hpp"
#include "actors/worker/data/row_stream.hpp"
#include "apps/linear/arithmetic.hpp"
#include "apps/linear/linear_evaluation.hpp"
#include "apps/model/model_folder.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::size_t most_reported = 5;

class predictor {
 public:
  predictor(const saved_model& saved, linear_model model, double bias, metric_set* figures,
            bool checks_labels, std::uint64_t batch_rows, const prediction_listener& listener)
      : saved_(saved),
        model_(std::move(model)),
        bias_(bias),
        figures_(figures),
        checks_labels_(checks_labels),
        listener_(listener),
        builder_({batch_rows, std::uint64_t{32} << 20}) {
    part_.set_data_set("test");
  }

  result<void> add(const example& row) {
    if (row.labelled && (figures_ != nullptr || checks_labels_))
      if (auto known = check_label(row.label); !known) return known;
    builder_.add(row);
    return builder_.full() ? flush() : result<void>();
  }

  result<void> flush() {
    if (builder_.empty()) return {};
    const auto rows = builder_.finish();
    std::vector<std::uint32_t> all(rows.rows());
    std::iota(all.begin(), all.end(), 0);
    maker_.make(rows, all, batch_);
    if (auto scored = score_saved_batch(saved_, model_, bias_, batch_, scores_); !scored)
      return scored;
    if (figures_ != nullptr) measure();
    for (std::size_t r = 0; r < scores_.size(); ++r)
      if (auto done = listener_.row({rows.id(r), scores_[r] + model_.score_offset}); !done)
        return done;
    return listener_.batch ? listener_.batch() : result<void>();
  }

 private:
  result<void> check_label(double label) const {
    data_facts one;
    one.rows = 1;
    one.labels[label] = 1;
    return model_.labels.check(one, "the data");
  }

  void measure() {
    const auto columns = batch_.group.empty() ? columns_of_scores : columns_with_groups;
    auto [numbers, writable] = blob::uninitialised(batch_.rows() * columns * sizeof(double));
    write_scores(model_, batch_, scores_, model_.score_offset, columns,
                 reinterpret_cast<double*>(writable));
    part_.set_columns(columns);
    figures_->add(part_, numbers);
    part_.set_part(part_.part() + 1);
  }

  const saved_model& saved_;
  const linear_model model_;
  const double bias_;
  metric_set* const figures_;
  const bool checks_labels_;  // a label that no training row had is a fault
  const prediction_listener& listener_;
  block_builder builder_;
  batch_maker maker_;
  batch batch_;
  std::vector<double> scores_;
  pb::EvaluatedPart part_;
};

score_reading reading_of(const linear_model& model) {
  score_reading r;
  r.probabilities = model.loss == loss_kind::logistic;
  r.negative = model.labels.negative();
  r.positive = model.labels.positive();
  if (!model.labels.maps() && r.negative && r.positive)
    r.threshold = *r.negative / 2 + *r.positive / 2;
  return r;
}

// All rows of all files, counted.
result<void> read_all(file_system& files, const predict_options& options, const data_options& data,
                      row_pipeline& pipeline, predictor& rows, prediction& p) {
  example row;
  for (const auto& path : options.files) {
    const auto stream = row_stream::open(files, path, pipeline, data.max_line_bytes, nullptr);
    if (!stream) return stream.failure();
    for (;;) {
      const auto step = (*stream)->next(row);
      if (!step) return step.failure();
      if (*step == row_stream::step::end) break;
      if (*step == row_stream::step::fault) {
        if (p.bad_rows >= data.max_bad_rows) return error{errc::bad_data, (*stream)->fault()};
        ++p.bad_rows;
        if (p.bad.size() < most_reported) p.bad.push_back((*stream)->fault());
        continue;
      }
      ++p.rows;
      if (row.labelled) ++p.labelled;
      if (options.metrics && !row.labelled)
        return error{errc::bad_data,
                     format("%s:%llu:1: a row without a label cannot be measured",
                            (*stream)->source().path().c_str(),
                            static_cast<unsigned long long>((*stream)->line_number()))};
      if (auto done = rows.add(row); !done) return done;
    }
  }
  return {};
}

}  // namespace

double score_reading::probability(double score) const {
  return 1 / (1 + math::exp(-score));
}

double score_reading::label(double score) const {
  if (!negative || !positive) {
    const auto& only = negative ? negative : positive;
    return only ? *only : score;
  }
  return score > threshold ? *positive : *negative;
}

result<prediction> predict(std::shared_ptr<file_system> files, const predict_options& options,
                           const prediction_listener& listener) {
  const auto opened = open_linear(*files, options.model, options.set);
  if (!opened) return opened.failure();
  const auto& [saved, model, job] = *opened;
  const auto bias = saved_bias(saved, model);
  if (!bias) return bias.failure();
  auto data = data_options_of(job);
  // Where labels may have weights a row without a label cannot be told from one with.
  data.reading.labels_optional = !data.reading.label_weights;
  auto pipeline = row_pipeline::make(data.format, data.reading, data.shape);
  if (!pipeline) return pipeline.failure();

  metric_set figures(metric_settings_of(saved, model, job));
  predictor rows(saved, model, *bias, options.metrics ? &figures : nullptr,
                 data.reading.label_weights, options.batch_rows, listener);
  auto meaning = reading_of(model);
  for (const auto& [word, label] : data.reading.csv.label_words) meaning.words.emplace(label, word);
  if (listener.begin) listener.begin(meaning);
  prediction p;
  auto read = read_all(*files, options, data, *pipeline, rows, p);
  // What came before a fault is predicted all the same.
  if (auto done = rows.flush(); !done) return done.failure();
  if (!read) return read.failure();
  if (options.metrics) p.metrics = figures.figures({});
  return p;
}

}  // namespace troupe
