#include "actors/server/plan.hpp"

#include <algorithm>
#include <map>

#include "core/text.hpp"

namespace troupe {
namespace {

template <class Value>
result<Value> word_of(const char* what, const std::string& word,
                      const std::map<std::string, Value>& known) {
  if (const auto found = known.find(word); found != known.end()) return found->second;
  std::string all;
  for (const auto& [name, value] : known) all += (all.empty() ? "" : ", ") + name;
  return error{errc::bad_config, format("%s '%s' is none of %s", what, word.c_str(), all.c_str())};
}

result<rate_schedule> schedule_of(const pb::TableSpec& message) {
  rate_schedule schedule;
  const auto kind = decay_kind_of(message.schedule());
  if (!kind) return kind.failure();
  schedule.kind = *kind;
  for (const auto& number : message.schedule_parameters()) {
    if (!(number.value() >= 0))
      return error{errc::bad_config, format("the schedule's %s is %g, below 0",
                                            number.name().c_str(), number.value())};
    if (number.name() == "rate")
      schedule.rate = number.value();
    else if (number.name() == "decay")
      schedule.decay = number.value();
    else if (number.name() == "gamma")
      schedule.gamma = number.value();
    else if (number.name() == "warmup")
      schedule.warmup = static_cast<std::uint64_t>(number.value());
    else
      return error{errc::bad_config, "a schedule has no number '" + number.name() + "'"};
  }
  return schedule;
}

result<table_spec> unnamed_spec_of(const pb::TableSpec& message) {
  using init = initialiser_spec::kind;
  const auto kind = word_of<table_kind>(
      "kind", message.kind(), {{"sparse", table_kind::sparse}, {"dense", table_kind::dense}});
  const auto type = word_of<value_type>("value type", message.value_type(),
                                        {{"f32", value_type::f32}, {"f64", value_type::f64}});
  const auto how =
      word_of<combine>("combine", message.combine(),
                       {{"sum", combine::sum}, {"mean", combine::mean}, {"each", combine::each}});
  const auto clip = word_of<clipping>(
      "clip", message.clip(),
      {{"none", clipping::none}, {"value", clipping::value}, {"norm", clipping::norm}});
  const auto initialiser = word_of<init>("initialiser", message.initialiser(),
                                         {{"zero", init::zero},
                                          {"constant", init::constant},
                                          {"uniform", init::uniform},
                                          {"normal", init::normal}});
  const auto schedule = schedule_of(message);
  if (!kind) return kind.failure();
  if (!type) return type.failure();
  if (!how) return how.failure();
  if (!clip) return clip.failure();
  if (!initialiser) return initialiser.failure();
  if (!schedule) return schedule.failure();
  if (message.by_range() && message.first_key() > message.last_key())
    return error{errc::bad_config, "its first key is above its last"};

  table_spec spec;
  spec.name = message.name();
  spec.kind = *kind;
  spec.type = *type;
  spec.width = message.width();
  if (message.by_range())
    spec.keys = partitioning::by_range({message.first_key(), message.last_key()});
  spec.how = *how;
  spec.function.name = message.function();
  for (const auto& number : message.parameters())
    spec.function.parameters[number.name()] = number.value();
  spec.function.rate = *schedule;
  spec.function.l1 = message.l1();
  spec.function.l2 = message.l2();
  spec.function.clip = *clip;
  spec.function.clip_at = message.clip_at();
  spec.init = {*initialiser, message.initialiser_a(), message.initialiser_b()};
  return spec;
}

}  // namespace

result<table_spec> table_spec_of(const pb::TableSpec& message) {
  auto spec = unnamed_spec_of(message);
  if (!spec)
    return error{spec.failure().code, "table '" + message.name() + "': " + spec.failure().text};
  return spec;
}

result<std::vector<std::shared_ptr<table>>> make_tables(const pb::JobPlan& plan) {
  std::vector<std::shared_ptr<table>> tables;
  for (const auto& message : plan.tables()) {
    const auto spec = table_spec_of(message);
    if (!spec) return spec.failure();
    auto made = table::make(*spec, plan.seed());
    if (!made) return made.failure();
    tables.push_back(std::move(*made));
  }
  return tables;
}

shard_settings shard_settings_of(const pb::JobPlan& plan, std::uint32_t server) {
  shard_settings settings;
  settings.server = server;
  settings.slots = plan.slots();
  settings.first_clock = plan.first_clock();
  settings.staleness =
      plan.bounded() ? std::optional<std::uint64_t>(plan.staleness()) : std::nullopt;
  const auto& t = plan.timings();
  auto& copies = settings.copies;
  if (t.copy_bytes() > 0) copies.most_waiting = t.copy_bytes();
  if (t.transfer_chunk() > 0) copies.chunk = t.transfer_chunk();
  copies.transfer_rate = t.transfer_rate();
  copies.gather = duration(t.copy_delay());
  if (t.request_timeout() > 0) copies.answer_within = duration(t.request_timeout());
  return settings;
}

host_settings host_settings_of(const pb::JobPlan& plan, std::uint32_t server,
                               std::uint64_t incarnation) {
  host_settings settings;
  settings.shard = shard_settings_of(plan, server);
  settings.incarnation = incarnation;
  settings.lease = duration(plan.timings().lease());
  // A message that was lost is sent again before its copy is given up.
  settings.copy_patience = std::max(2 * duration(plan.timings().death_after()),
                                    3 * duration(plan.timings().request_timeout()));
  return settings;
}

pb::TableSummary summary_of(const table& t, std::uint32_t number) {
  const auto summary = t.summary();
  pb::TableSummary message;
  message.set_table(number);
  message.set_rows(summary.rows);
  message.set_nonzeros(summary.nonzeros);
  message.set_l1(summary.absolutes);
  message.set_l2(summary.squares);
  message.set_digest_low(summary.digest.low);
  message.set_digest_high(summary.digest.high);
  message.set_live_bytes(summary.live_bytes);
  message.set_has_largest(summary.largest.has_value());
  message.set_largest(summary.largest.value_or(0));
  return message;
}

pb::TableSummary summary_of(const shard& s, std::uint32_t table) {
  auto message = summary_of(*s.tables()[table], table);
  message.set_rejected(s.rejected(table));
  return message;
}

}  // namespace troupe
