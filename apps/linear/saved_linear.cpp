#include "apps/linear/saved_linear.hpp"

#include <algorithm>
#include <utility>

#include "actors/worker/data/batch.hpp"
#include "actors/worker/key_set.hpp"
#include "apps/linear/arithmetic.hpp"
#include "apps/linear/linear_evaluation.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Values of the keys as a worker's pull has them: unknown ones are initial values.
result<blob> read_values(const table& from, span<const key_id> ids) {
  const auto& spec = from.spec();
  const auto keys = key_set::of(spec.keys, ids);
  if (!keys) return error{errc::bad_data, "table '" + spec.name + "': " + keys.failure().text};
  auto [values, writable] = blob::uninitialised(keys->size() * spec.row_bytes());
  if (auto done = from.pull(keys->positions(), writable, nullptr); !done) return done.failure();
  return keys->to_caller_order(values, spec.row_bytes());
}

std::vector<pb::TableSummary> summaries_of(const pb::ModelManifest& manifest) {
  std::vector<pb::TableSummary> all;
  for (const auto& table : manifest.tables()) {
    pb::TableSummary summary;
    summary.set_table(static_cast<std::uint32_t>(all.size()));
    summary.set_rows(table.rows());
    summary.set_nonzeros(table.nonzeros());
    summary.set_l1(table.sum_absolutes());
    summary.set_l2(table.sum_squares());
    all.push_back(std::move(summary));
  }
  return all;
}

std::vector<table_penalty> penalties_of(const pb::ModelManifest& manifest) {
  std::vector<table_penalty> all;
  for (const auto& table : manifest.tables()) all.push_back({table.l1(), table.l2()});
  return all;
}

}  // namespace

pb::ModelManifest describe_model(const config::Job& job, const linear_job& made) {
  pb::ModelManifest m;
  m.set_app("linear");
  m.set_job(job.job().name());
  m.set_seed(job.job().seed());
  m.set_loss(to_string(made.training.model.loss));
  m.set_bias(made.training.model.bias);
  const auto& labels = made.training.model.labels;
  m.mutable_labels()->set_maps(labels.maps());
  if (labels.negative()) m.mutable_labels()->set_negative(*labels.negative());
  if (labels.positive()) m.mutable_labels()->set_positive(*labels.positive());
  m.set_data_format(job.data().format());
  m.set_index_base(job.data().index_base());
  m.set_hash_seed(job.data().hash_seed());
  m.set_hash_bits(job.data().hash_bits());
  m.set_score_offset(made.training.model.score_offset);
  m.set_negative_weight(made.training.model.negative_weight);
  m.set_positive_weight(made.training.model.positive_weight);
  m.set_configuration(config::to_toml(job));
  for (std::size_t i = 0; i < made.tables.size(); ++i) {
    auto* table = m.add_tables();
    *table->mutable_spec() = made.tables[i];
    table->set_l1(made.metrics.penalties[i].l1);
    table->set_l2(made.metrics.penalties[i].l2);
  }
  return m;
}

result<linear_model> linear_model_of(const saved_model& saved) {
  const auto& m = saved.manifest;
  const auto wrong = [&](const std::string& why) {
    return error{errc::damaged, saved.folder + ": " + why};
  };
  if (m.app() != "linear") return wrong("it is a model of the app '" + m.app() + "', not linear");
  const auto loss = loss_of(m.loss());
  if (!loss) return wrong(loss.failure().text);
  const auto optional_of = [](bool there, double value) {
    return there ? std::optional<double>(value) : std::nullopt;
  };
  const std::size_t tables = m.bias() ? 2 : 1;
  if (saved.tables.size() != tables)
    return wrong(
        format("it has %zu tables, and its kind of model %zu", saved.tables.size(), tables));
  for (const auto& t : saved.tables)
    if (t->spec().width != 1) return wrong("table '" + t->spec().name + "' is not 1 value wide");
  linear_model model;
  model.loss = *loss;
  model.labels =
      label_map(m.labels().maps(), optional_of(m.labels().has_negative(), m.labels().negative()),
                optional_of(m.labels().has_positive(), m.labels().positive()));
  model.bias = m.bias();
  model.score_offset = m.score_offset();
  // Older models have none: all rows count alike.
  if (m.negative_weight() != 0 || m.positive_weight() != 0) {
    model.negative_weight = m.negative_weight();
    model.positive_weight = m.positive_weight();
  }
  model.weights_are_doubles = saved.tables[weights_table]->spec().type == value_type::f64;
  if (model.bias) model.bias_is_double = saved.tables[bias_table]->spec().type == value_type::f64;
  return model;
}

result<opened_linear> open_linear(file_system& files, const std::string& folder,
                                  const config::overrides& set) {
  auto saved = load_model(files, folder);
  if (!saved) return saved.failure();
  auto model = linear_model_of(*saved);
  if (!model) return model.failure();
  auto job =
      config::parse_job(saved->manifest.configuration(), saved->folder + ": configuration", set);
  if (!job) return job.failure();
  return opened_linear{std::move(*saved), std::move(*model), std::move(*job)};
}

result<double> saved_bias(const saved_model& saved, const linear_model& model) {
  if (!model.bias) return 0.0;
  const auto value = read_values(*saved.tables[bias_table], {&bias_key, 1});
  if (!value) return value.failure();
  return first_value(*value, model.bias_is_double);
}

metric_settings metric_settings_of(const saved_model& saved, const linear_model& model,
                                   const config::Job& job) {
  auto settings = metric_settings_of(model, penalties_of(saved.manifest));
  settings.metrics.assign(job.evaluation().metrics().begin(), job.evaluation().metrics().end());
  return settings;
}

result<void> score_saved_batch(const saved_model& saved, const linear_model& model, double bias,
                               const batch& rows, std::vector<double>& margins) {
  const auto weights = read_values(*saved.tables[weights_table], rows.keys);
  if (!weights) return weights.failure();
  score_rows(rows, *weights, model.weights_are_doubles, bias, margins);
  return {};
}

result<void> score_saved(const saved_model& saved, const linear_model& model, const dataset& data,
                         const std::string& set, metric_set& into) {
  const auto bias = saved_bias(saved, model);
  if (!bias) return bias.failure();
  batch_maker maker;
  batch rows;
  std::vector<double> margins;
  const auto columns = data.facts().has_groups ? columns_with_groups : columns_of_scores;
  pb::EvaluatedPart part;
  part.set_data_set(set);
  part.set_columns(columns);
  for (std::size_t i = 0; i < data.blocks().size(); ++i) {
    const auto from = data.load_block(i);
    if (!from) return from.failure();
    const auto end = (*from)->first_row + (*from)->rows();
    for (auto first = (*from)->first_row; first < end; first += linear_evaluation::batch_rows) {
      make_consecutive(maker, **from, first, std::min(end, first + linear_evaluation::batch_rows),
                       rows);
      if (auto scored = score_saved_batch(saved, model, *bias, rows, margins); !scored)
        return scored;
      auto [scores, writable] = blob::uninitialised(rows.rows() * columns * sizeof(double));
      write_scores(model, rows, margins, set == "train" ? 0 : model.score_offset, columns,
                   reinterpret_cast<double*>(writable));
      into.add(part, scores);
      part.set_part(part.part() + 1);
    }
  }
  return {};
}

result<std::vector<pb::Metric>> evaluate_saved(std::shared_ptr<file_system> files,
                                               const evaluate_options& options) {
  const auto opened = open_linear(*files, options.model, options.set);
  if (!opened) return opened.failure();
  const auto& [saved, model, job] = *opened;

  auto sources = options.data;
  if (sources.empty()) {
    const auto& own = options.train ? job.data().train() : job.data().test();
    sources.assign(own.begin(), own.end());
  }
  if (sources.empty())
    return error{errc::bad_usage, "the model's job has no test data; name the files to evaluate"};
  const auto role = options.train ? data_role::train : data_role::other;
  const auto data = dataset::open(files, sources, data_options_of(job, role), nullptr);
  if (!data) return data.failure();
  if (auto known = model.labels.check((*data)->facts(), sources.front()); !known)
    return known.failure();

  metric_set figures(metric_settings_of(saved, model, job));
  const std::string set = options.train ? "train" : "test";
  if (auto done = score_saved(saved, model, **data, set, figures); !done) return done.failure();
  return figures.figures(summaries_of(saved.manifest));
}

}  // namespace troupe
