#include "apps/linear/linear_job.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "apps/linear/table_spec.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

closed_range keys_of(const known_data& data) {
  auto first = data.train->smallest_key, last = data.train->largest_key;
  for (const auto* more : {data.test, data.validation}) {
    if (more == nullptr) continue;
    first = std::min(first, more->smallest_key);
    last = std::max(last, more->largest_key);
  }
  return first <= last ? closed_range{first, last} : closed_range{0, 0};  // no feature at all
}

// Updaters that step by their rate times the gradient get the mean over a minibatch, so that a rate
// is good for any minibatch; the others find their own scale, or need that of the objective.
double gradient_scale(const std::string& function, std::uint64_t minibatch) {
  const bool plain = function == "sgd" || function == "momentum" || function == "nesterov";
  return plain ? 1 / static_cast<double>(minibatch) : 1;
}

// What the rows of each class count, and what dropped ones do to the odds.
void set_class_weights(const config::Job& job, const data_facts& train, linear_model& model) {
  if (job.data().negative_keep() < 1)
    model.score_offset = math::log1p(job.data().negative_keep() - 1);
  const auto& weights = job.training().class_weights();
  model.negative_weight = weights.negative();
  model.positive_weight = weights.positive();
  if (weights.mode() != "balanced") return;
  const auto rows_of = [&](const std::optional<double>& label) {
    const auto found = label ? train.labels.find(*label) : train.labels.end();
    return found == train.labels.end() ? 0.0 : static_cast<double>(found->second);
  };
  const double negative = rows_of(model.labels.negative()),
               positive = rows_of(model.labels.positive());
  const double half = (negative + positive) / 2;
  model.negative_weight = negative > 0 ? half / negative : 1;
  model.positive_weight = positive > 0 ? half / positive : 1;
}

// Why a metric can never be known of this job's rows; empty: it can.
std::string undefined_metric(const std::string& name, const known_data& data,
                             const linear_job& made) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is({"logloss", "normalised_entropy"}) && !made.metrics.log_loss)
    return "is that of the logistic loss alone";
  if (is({"accuracy", "auc", "pr_auc", "group_auc"}) && !made.metrics.classes)
    return "needs two classes";
  const auto* measured = data.validation != nullptr ? data.validation
                         : data.test != nullptr     ? data.test
                                                    : data.train;
  if (is({"group_auc"}) && !measured->has_groups) return "needs rows that have groups";
  return {};
}

result<void> set_evaluation(const config::Job& job, const known_data& data, linear_job& made) {
  const auto& e = job.evaluation();
  const std::string set = data.validation != nullptr ? "validation"
                          : data.test != nullptr     ? "test"
                                                     : "train";
  made.measure = {set};
  auto name = e.metric();
  if (name == "auto" || name == "loss") name = made.metrics.log_loss ? "logloss" : "loss";
  const auto entry = metric_registry::global().find(name);
  if (!entry) return error{errc::bad_config, "evaluation.metric: " + entry.failure().text};
  if (name == "calibration")
    return error{errc::bad_config,
                 "evaluation.metric: a calibration is good where it is near 1, neither where it is "
                 "large nor where it is small; choose by another metric"};
  made.stopping = {set + "_" + name, entry->larger_is_better, e.patience()};
  made.metrics.metrics.assign(e.metrics().begin(), e.metrics().end());
  for (const auto& one : made.metrics.metrics)
    if (const auto known = metric_registry::global().find(one); !known)
      return error{errc::bad_config, "evaluation.metrics: " + known.failure().text};
  if (e.every() > 0) {
    if (const auto never = undefined_metric(name, data, made); !never.empty())
      return error{errc::bad_config, "evaluation.metric: '" + name + "' " + never};
    made.metrics.also = name;
  }
  return {};
}

number_form number_form_of(const config::Data& data) {
  const auto& word = data.numbers();
  if (word == "buckets" || (word == "auto" && data.format() == "criteo"))
    return number_form::buckets;
  return word == "log" ? number_form::log : number_form::value;
}

csv_layout csv_of(const config::Csv& csv) {
  csv_layout layout;
  layout.separator = csv.separator() == "tab" ? '\t' : csv.separator()[0];
  layout.header = csv.header();
  layout.columns = {csv.columns().begin(), csv.columns().end()};
  layout.others = csv.others();
  layout.missing = {csv.missing().begin(), csv.missing().end()};
  layout.label_words = {csv.label_words().begin(), csv.label_words().end()};
  return layout;
}

}  // namespace

result<linear_job> make_linear_job(const config::Job& job, const known_data& data) {
  const auto& train = *data.train;
  if (train.rows == 0) return error{errc::bad_data, "data.train has no rows"};
  linear_job made;
  auto& model = made.training.model;
  const auto loss = loss_of(job.model().loss());
  if (!loss) return error{errc::bad_config, "model.loss: " + loss.failure().text};
  model.loss = *loss;
  const auto &positive = job.data().positive_label(), &negative = job.data().negative_label();
  const bool named = positive != "auto" || negative != "auto";
  auto labels = data.earlier_labels != nullptr && !named
                    ? result<label_map>(*data.earlier_labels)
                    : label_map::make(*loss, positive, train, negative);
  if (!labels) return labels.failure();
  model.labels = std::move(*labels);
  for (const auto& [facts, name] : {std::pair(data.train, "data.train"),
                                    {data.test, "data.test"},
                                    {data.validation, "data.validation"}})
    if (facts != nullptr)
      if (const auto known = model.labels.check(*facts, name); !known) return known.failure();
  set_class_weights(job, train, model);
  model.bias = job.model().bias();

  auto weights = spec_of_table(job, "weights", keys_of(data));
  if (!weights) return weights.failure();
  made.tables.push_back(std::move(*weights));
  if (model.bias) {
    auto bias = spec_of_table(job, "bias", {bias_key, bias_key});
    if (!bias) return bias.failure();
    made.tables.push_back(std::move(*bias));
  }
  std::vector<table_penalty> penalties;
  for (const auto& table : made.tables) penalties.push_back({table.l1(), table.l2()});
  made.metrics = metric_settings_of(model, std::move(penalties));
  if (const auto done = set_evaluation(job, data, made); !done) return done.failure();
  // FTRL sets its penalties against the sum of the whole run's gradients, which is the objective's
  // once an epoch.
  for (auto& table : made.tables)
    if (table.function() == "ftrl") {
      table.set_l1(table.l1() * job.training().epochs());
      table.set_l2(table.l2() * job.training().epochs());
    }

  auto& training = made.training;
  const std::uint64_t minibatch = job.training().minibatch();
  model.weights_are_doubles = made.tables[weights_table].value_type() == "f64";
  training.weights_scale = gradient_scale(made.tables[weights_table].function(), minibatch);
  if (model.bias) {
    model.bias_is_double = made.tables[bias_table].value_type() == "f64";
    training.bias_scale = gradient_scale(made.tables[bias_table].function(), minibatch);
  }
  training.slots = job.cluster().slots();
  training.schedule.seed = job.job().seed();
  training.schedule.epochs = job.training().epochs();
  training.schedule.rows = minibatch;
  training.schedule.shuffle = job.data().shuffle();
  training.penalty_rows = job.training().penalty_rows();
  training.deal_blocks = job.data().deal() == "blocks";
  return made;
}

data_options data_options_of(const config::Job& job, data_role role) {
  const auto& data = job.data();
  data_options options;
  options.format = data.format();
  options.reading.index_base = data.index_base();
  options.reading.settings = {data.settings().begin(), data.settings().end()};
  options.reading.label_weights = data.label_weights();
  options.reading.names_are_keys = data.names() == "hashed";
  options.reading.hashing = {data.hash_seed(), data.hash_bits()};
  options.reading.numbers = number_form_of(data);
  options.reading.csv = csv_of(data.csv());
  options.shape.ignore = {data.ignore().begin(), data.ignore().end()};
  options.shape.factors = {data.factors().begin(), data.factors().end()};
  options.shape.interactions = {data.interactions().begin(), data.interactions().end()};
  if (data.scaling() == "unit_length") options.shape.scaling = row_scaling::unit_length;
  options.rows.seed = job.job().seed();
  if (data.validation_fraction() > 0 && role != data_role::other) {
    options.rows.which =
        role == data_role::train ? row_choice::part::training : row_choice::part::validation;
    options.rows.validation_fraction = data.validation_fraction();
  }
  if (role == data_role::train) {
    options.max_names = data.max_names();
    options.rows.negative_keep = data.negative_keep();
    // The schema allows numbers and "auto", and sampling with "auto" is refused.
    if (data.negative_keep() < 1) options.rows.positive_label = std::stod(data.positive_label());
  }
  options.blocks.rows = data.block_rows();
  options.blocks.bytes = static_cast<std::uint64_t>(data.block_size());
  options.max_line_bytes = static_cast<std::uint64_t>(data.max_line());
  options.max_bad_rows = data.max_bad_rows();
  options.cache_folder = data.cache();
  return options;
}

metric_settings metric_settings_of(const linear_model& model,
                                   std::vector<table_penalty> penalties) {
  metric_settings settings;
  settings.loss = [loss = model.loss](double score, double label) {
    return evaluate_loss(loss, score, label).value;
  };
  settings.log_loss = model.loss == loss_kind::logistic;
  settings.regression = model.loss == loss_kind::squared;
  if (const auto classes = model.labels.classes()) {
    settings.classes = {classes->negative, classes->positive};
    // Halfway between the labels; 0 for -1 and +1.
    settings.threshold = classes->negative / 2 + classes->positive / 2;
  }
  settings.penalties = std::move(penalties);
  return settings;
}

}  // namespace troupe
