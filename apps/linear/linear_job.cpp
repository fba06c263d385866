#include "apps/linear/linear_job.hpp"

#include <algorithm>
#include <optional>

#include "actors/server/functions/function_registry.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

void add_number(google::protobuf::RepeatedPtrField<pb::NumberByName>& to, const std::string& name,
                double value) {
  auto* number = to.Add();
  number->set_name(name);
  number->set_value(value);
}

result<void> set_function(const config::Updater& updater, pb::TableSpec& spec) {
  const auto entry = function_registry::global().find(updater.name());
  if (!entry) return error{errc::bad_config, entry.failure().text};
  spec.set_function(updater.name());
  spec.set_not_additive(!entry->additive);
  for (const auto& [name, value] : config::function_parameters(updater))
    add_number(*spec.mutable_parameters(), name, value);

  const auto& schedule = updater.schedule();
  spec.set_schedule(schedule.name());
  auto& numbers = *spec.mutable_schedule_parameters();
  add_number(numbers, "rate", updater.rate());
  add_number(numbers, "decay", schedule.decay());
  add_number(numbers, "gamma", schedule.gamma());
  add_number(numbers, "warmup", static_cast<double>(schedule.warmup()));

  spec.set_l1(updater.l1());
  spec.set_l2(updater.l2());
  spec.set_clip(updater.clip_value() > 0 ? "value" : updater.clip_norm() > 0 ? "norm" : "none");
  spec.set_clip_at(std::max(updater.clip_value(), updater.clip_norm()));
  return {};
}

void set_initialiser(const config::Initialiser& initialiser, pb::TableSpec& spec) {
  spec.set_initialiser(initialiser.kind());
  if (initialiser.kind() == "constant") spec.set_initialiser_a(initialiser.value());
  if (initialiser.kind() == "uniform") {
    spec.set_initialiser_a(initialiser.low());
    spec.set_initialiser_b(initialiser.high());
  }
  if (initialiser.kind() == "normal") {
    spec.set_initialiser_a(initialiser.mean());
    spec.set_initialiser_b(initialiser.deviation());
  }
}

// `used` are the keys that the table will be asked for.
result<void> set_keys(const config::Table& table, closed_range used, pb::TableSpec& spec) {
  const bool dense = table.kind() == "dense";
  const bool by_range = dense || table.partition() == "range" || table.has_first();
  spec.set_kind(dense ? "dense" : "sparse");
  spec.set_by_range(by_range);
  if (!by_range) return {};
  const closed_range bounds = table.has_first() ? closed_range{table.first(), table.last()} : used;
  for (const auto key : {used.first, used.last})
    if (!bounds.contains(key))
      return error{errc::bad_config,
                   format("tables.%s: the data have the key %llu, outside first and last (%llu "
                          "to %llu); a key is a feature's number less data.index_base",
                          spec.name().c_str(), static_cast<unsigned long long>(key),
                          static_cast<unsigned long long>(bounds.first),
                          static_cast<unsigned long long>(bounds.last))};
  spec.set_first_key(bounds.first);
  spec.set_last_key(bounds.last);
  return {};
}

result<pb::TableSpec> table_spec(const config::Job& job, const std::string& name,
                                 closed_range used) {
  const auto table = config::table_of(job, name);
  pb::TableSpec spec;
  spec.set_name(name);
  spec.set_value_type(table.value_type());
  spec.set_width(1);
  spec.set_combine(table.combine());
  set_initialiser(table.initialiser(), spec);
  if (const auto done = set_function(table.updater(), spec); !done)
    return error{errc::bad_config, "tables." + name + ".updater: " + done.failure().text};
  if (const auto done = set_keys(table, used, spec); !done) return done.failure();
  return spec;
}

closed_range keys_of(const data_facts& train, const data_facts* test) {
  auto first = train.smallest_key, last = train.largest_key;
  if (test != nullptr) {
    first = std::min(first, test->smallest_key);
    last = std::max(last, test->largest_key);
  }
  return first <= last ? closed_range{first, last} : closed_range{0, 0};  // no feature at all
}

// Updaters that step by their rate times the gradient get the mean over a minibatch, so that a rate
// is good for any minibatch; the others find their own scale, or need that of the objective.
double gradient_scale(const std::string& function, std::uint64_t minibatch) {
  const bool plain = function == "sgd" || function == "momentum" || function == "nesterov";
  return plain ? 1 / static_cast<double>(minibatch) : 1;
}

}  // namespace

result<linear_job> make_linear_job(const config::Job& job, const data_facts& train,
                                   const data_facts* test) {
  if (train.rows == 0) return error{errc::bad_data, "data.train has no rows"};
  linear_job made;
  auto& model = made.training.model;
  const auto loss = loss_of(job.model().loss());
  if (!loss) return error{errc::bad_config, "model.loss: " + loss.failure().text};
  model.loss = *loss;
  auto labels = label_map::make(*loss, job.data().positive_label(), train);
  if (!labels) return labels.failure();
  model.labels = std::move(*labels);
  if (test != nullptr)
    if (const auto known = model.labels.check(*test, "data.test"); !known) return known.failure();
  model.bias = job.model().bias();

  auto weights = table_spec(job, "weights", keys_of(train, test));
  if (!weights) return weights.failure();
  made.tables.push_back(std::move(*weights));
  if (model.bias) {
    auto bias = table_spec(job, "bias", {bias_key, bias_key});
    if (!bias) return bias.failure();
    made.tables.push_back(std::move(*bias));
  }
  std::vector<table_penalty> penalties;
  for (const auto& table : made.tables) penalties.push_back({table.l1(), table.l2()});
  made.metrics = metric_settings_of(model, std::move(penalties));
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
  return made;
}

data_options data_options_of(const config::Job& job) {
  const auto& data = job.data();
  data_options options;
  options.format = data.format();
  options.reading.index_base = data.index_base();
  options.reading.settings = {data.settings().begin(), data.settings().end()};
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
  if (const auto classes = model.labels.classes()) {
    settings.classes = {classes->negative, classes->positive};
    // Halfway between the labels; 0 for -1 and +1.
    settings.threshold = classes->negative / 2 + classes->positive / 2;
  }
  settings.penalties = std::move(penalties);
  return settings;
}

}  // namespace troupe
