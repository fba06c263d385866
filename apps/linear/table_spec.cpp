#include "apps/linear/table_spec.hpp"

#include <algorithm>
#include <map>

#include "actors/server/functions/function_registry.hpp"
#include "core/text.hpp"
#include "messages/filters/chain.hpp"
#include "messages/filters/filter_text.hpp"

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
  spec.set_pushes(entry->pushes);
  spec.set_shows(entry->shows);
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

}  // namespace

result<pb::TableSpec> spec_of_table(const config::Job& job, const std::string& name,
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
  for (const auto& [words, to] : {std::pair(&table.push_filters(), spec.mutable_push_filters()),
                                  {&table.pull_filters(), spec.mutable_pull_filters()}})
    if (const auto done = add_filters(*words, *to); !done)
      return error{errc::bad_config, "tables." + name + ": " + done.failure().text};
  if (const auto done = check_filters(spec); !done) return done.failure();
  return spec;
}

result<std::vector<pb::TableSpec>> external_tables(const config::Job& job) {
  const std::map<std::string, config::Table> named(job.tables().begin(), job.tables().end());
  if (named.empty())
    return error{errc::bad_config, "tables: an external program's job must name its tables"};
  std::vector<pb::TableSpec> all;
  for (const auto& [name, table] : named) {
    const closed_range whole{0, ~std::uint64_t{0}};
    auto spec = spec_of_table(
        job, name, table.has_first() ? closed_range{table.first(), table.last()} : whole);
    if (!spec) return spec.failure();
    if (table.has_width()) spec->set_width(table.width());
    all.push_back(*std::move(spec));
  }
  return all;
}

}  // namespace troupe
