#include "actors/server/shard.hpp"

#include <algorithm>
#include <cstring>

#include "actors/server/table/gather.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Slots that a "waiting" answer names at most.
constexpr std::size_t most_named = 16;

template <class Reply>
Reply with_outcome(pb::Outcome outcome, std::string text = {}) {
  Reply reply;
  reply.set_outcome(outcome);
  reply.set_text(std::move(text));
  return reply;
}

// What the asker names, within reason.
template <class Header>
duration hold_of(const Header& header) {
  constexpr duration longest = std::chrono::hours(1);
  return std::clamp(duration(header.hold_ns()), duration::zero(), longest);
}

bool strictly_ascending(span<const position> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i - 1] >= keys[i]) return false;
  return true;
}

// Turns rows into what they were before the pushes that `before` was kept from: old values, without
// the rows that those pushes made.
void as_before(const overwritten& before, std::size_t row_bytes, table_rows& rows) {
  before.restore(rows.positions, row_bytes, rows.values.data());
  std::vector<position> made;
  for (const auto& run : before.runs())
    for (const auto index : run.absent) made.push_back(run.positions[index]);
  std::sort(made.begin(), made.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.positions.size(); ++i) {
    if (std::binary_search(made.begin(), made.end(), rows.positions[i])) continue;
    rows.positions[kept] = rows.positions[i];
    std::memmove(rows.values.data() + kept * row_bytes, rows.values.data() + i * row_bytes,
                 row_bytes);
    ++kept;
  }
  rows.positions.resize(kept);
  rows.values.resize(kept * row_bytes);
}

}  // namespace

shard::shard(shard_settings settings, std::vector<std::shared_ptr<table>> tables, meter& work_done)
    : settings_(settings),
      tables_(std::move(tables)),
      meter_(work_done),
      ledger_(settings.slots),
      before_(tables_.size()),
      rejected_(tables_.size()) {}

result<void> shard::install(view next) {
  if (next.number() <= view_.number()) return {};
  if (!view_.empty())
    return error{errc::stale,
                 format("server %u cannot change its segments while it serves", settings_.server)};
  view_ = std::move(next);
  ranges_ = view_.ranges_of(settings_.server);
  for (const auto& t : tables_)
    for (const auto& range : ranges_) t->add_segment(range);
  return {};
}

answers shard::on_push(asker from, const pb::PushHeader& header, const blob& keys,
                       const blob& values, instant now) {
  answers out;
  if (auto reply = take(from, header, keys, values, now))
    out.pushes.push_back({from, std::move(*reply)});
  apply_open_clocks(out);
  release_pulls(out);
  return out;
}

std::optional<pb::PushReply> shard::take(asker from, const pb::PushHeader& header, const blob& keys,
                                         const blob& values, instant now) {
  using reply = pb::PushReply;
  if (view_.empty()) return with_outcome<reply>(pb::NOT_SERVING);
  if (auto wrong = misfit(header, keys, values))
    return with_outcome<reply>(pb::BAD_REQUEST, std::move(*wrong));
  if (header.view() != view_.number()) {
    auto stale = with_outcome<reply>(pb::STALE_VIEW);
    *stale.mutable_view() = view_.to_message();
    return stale;
  }
  const push_number number{header.clock(), header.index()};
  switch (ledger_.classify(header.slot(), header.epoch(), number)) {
    case arrival::fenced:
      return with_outcome<reply>(
          pb::STALE_EPOCH, format("slot %u has been taken over (epoch %llu)", header.slot(),
                                  static_cast<unsigned long long>(ledger_.epoch(header.slot()))));
    case arrival::repeated:
      if (auto* pending = gathering_.find(header.slot(), number)) {
        pending->askers.emplace_back(from, now + hold_of(header));
        return std::nullopt;
      }
      return with_outcome<reply>(pb::DONE);
    case arrival::too_early: {
      auto missing = with_outcome<reply>(pb::MISSING);
      missing.set_expected_clock(ledger_.next(header.slot()).clock);
      missing.set_expected_index(ledger_.next(header.slot()).index);
      return missing;
    }
    case arrival::next:
      break;
  }
  return take_next(from, header, keys, values, now);
}

std::optional<pb::PushReply> shard::take_next(asker from, const pb::PushHeader& header,
                                              const blob& keys, const blob& values, instant now) {
  using reply = pb::PushReply;
  if (frozen_) return with_outcome<reply>(pb::LATER, "its rows are being written");
  if (header.finish()) {
    ledger_.finish(header.slot());
    return with_outcome<reply>(pb::DONE);
  }
  // A slot that runs ahead of the bound without pulling must not fill the memory: its push is put
  // off.
  if (settings_.staleness && header.clock() > ledger_.slowest() + *settings_.staleness) {
    auto waiting = with_outcome<reply>(pb::LATER);
    say_whom_for(waiting, header.clock() - *settings_.staleness);
    return waiting;
  }
  const push_number number{header.clock(), header.index()};
  if (!gathers(header.table())) {
    const bool applied =
        apply(header.table(), keys.as<position>(), values.data(), {header.clock(), header.share()});
    ledger_.take(header.slot(), number, header.last());
    return with_outcome<reply>(applied ? pb::DONE : pb::REJECTED);
  }
  gathering_.add(header.slot(), number,
                 {header.table(), header.share(), keys, values, {{from, now + hold_of(header)}}});
  ledger_.take(header.slot(), number, header.last());
  return std::nullopt;
}

bool shard::gathers(std::size_t t) const {
  return bulk_synchronous() || tables_[t]->spec().how != combine::each;
}

std::optional<std::string> shard::misfit(const pb::PushHeader& header, const blob& keys,
                                         const blob& values) const {
  if (header.slot() >= ledger_.slots())
    return format("slot %u of %u", header.slot(), ledger_.slots());
  if (header.table() >= tables_.size())
    return format("table %u of %zu", header.table(), tables_.size());
  const auto& t = *tables_[header.table()];
  const auto row_bytes = t.spec().row_bytes();
  if (!keys.divides<position>() || keys.size() / sizeof(position) * row_bytes != values.size())
    return format("table '%s': %zu bytes of keys and %zu of values do not fit rows of %zu bytes",
                  t.spec().name.c_str(), keys.size(), values.size(), row_bytes);
  if (!strictly_ascending(keys.as<position>()))
    return format("table '%s': the keys of a push must ascend", t.spec().name.c_str());
  if (header.view() == view_.number() && !owns_all(keys.as<position>()))
    return format("table '%s': a key belongs to another server", t.spec().name.c_str());
  return std::nullopt;
}

bool shard::owns_all(span<const position> ascending) const {
  auto range = ranges_.begin();
  for (const auto p : ascending) {
    while (range != ranges_.end() && range->last < p) ++range;
    if (range == ranges_.end() || p < range->first) return false;
  }
  return true;
}

bool shard::apply(std::size_t t, span<const position> keys, const void* values, step_context step) {
  if (keys.empty()) return true;
  step.clock += settings_.first_clock;
  meter_.add(work::keys_pushed, keys.size());
  const auto done =
      tables_[t]->apply(keys, values, step, bulk_synchronous() ? &before_[t] : nullptr);
  if (!done) ++rejected_[t];
  return done.ok();
}

void shard::apply_open_clocks(answers& out) {
  while (!gathering_.empty() && gathering_.first_clock() < ledger_.slowest()) {
    const auto clock = gathering_.first_clock();
    auto pushes = gathering_.take_first();
    for (auto& b : before_) b.clear();
    apply_clock(clock, pushes, out);
    version_ = clock + 1;
  }
}

void shard::apply_clock(std::uint64_t clock, open_clock& pushes, answers& out) {
  std::vector<bool> combined_fine(tables_.size(), true);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (tables_[t]->spec().how == combine::each) continue;
    std::vector<const gathered_push*> of_table;
    for (const auto& [number, push] : pushes)
      if (push.table == t) of_table.push_back(&push);
    // The mean is over the slots that were active in this clock: those that have it behind them
    // now.
    const bool mean = tables_[t]->spec().how == combine::mean;
    combined_fine[t] = apply_combined(t, clock, of_table, mean ? ledger_.beyond(clock) : 1);
  }
  for (auto& [number, push] : pushes) {
    const bool fine =
        tables_[push.table]->spec().how == combine::each
            ? apply(push.table, push.keys.as<position>(), push.values.data(), {clock, push.share})
            : combined_fine[push.table];
    for (const auto& [to, deadline] : push.askers)
      out.pushes.push_back({to, with_outcome<pb::PushReply>(fine ? pb::DONE : pb::REJECTED)});
  }
}

bool shard::apply_combined(std::size_t t, std::uint64_t clock,
                           const std::vector<const gathered_push*>& pushes, std::uint32_t slots) {
  const auto divisor = static_cast<double>(slots);
  std::vector<gather_input> inputs;
  double share = 0;
  for (const auto* push : pushes) {
    share += push->share;  // of those without keys here too: shares must not depend on sharding
    if (push->keys.empty()) continue;
    inputs.push_back({push->keys.as<position>(), push->values.data()});
    meter_.add(work::keys_pushed, inputs.back().positions.size());
  }
  if (inputs.empty()) return true;
  const auto sum = gather(tables_[t]->spec().type, tables_[t]->spec().width, inputs, divisor);
  return apply(t, sum.positions, sum.values.data(), {clock, share / divisor});
}

std::uint64_t shard::needed_clock(std::uint64_t clock) const {
  if (!settings_.staleness || clock <= *settings_.staleness) return 0;
  return clock - *settings_.staleness;
}

answers shard::on_pull(asker from, const pb::PullHeader& header, const blob& keys, instant now) {
  answers out;
  if (auto no = refusal(header, keys)) {
    out.pulls.push_back({from, std::move(*no), {}, {}});
    return out;
  }
  if (header.observer() || ledger_.slowest() >= needed_clock(header.clock())) {
    out.pulls.push_back(read(from, header, keys));
  } else {
    held_.emplace(needed_clock(header.clock()),
                  held_pull{from, header, keys, now + hold_of(header)});
  }
  return out;
}

std::optional<pb::PullReply> shard::refusal(const pb::PullHeader& header, const blob& keys) const {
  using reply = pb::PullReply;
  if (view_.empty() || loading_) return with_outcome<reply>(pb::NOT_SERVING);
  if (header.table() >= tables_.size())
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table %u of %zu", header.table(), tables_.size()));
  if (header.view() != view_.number()) {
    auto stale = with_outcome<reply>(pb::STALE_VIEW);
    *stale.mutable_view() = view_.to_message();
    return stale;
  }
  const auto& name = tables_[header.table()]->spec().name;
  if (!keys.divides<position>() || !strictly_ascending(keys.as<position>()))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': the keys of a pull must ascend", name.c_str()));
  if (!owns_all(keys.as<position>()))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': a key belongs to another server", name.c_str()));
  const auto row_bytes = tables_[header.table()]->spec().row_bytes() + sizeof(position);
  if (header.range() && (header.limit() == 0 || header.limit() > blob::max_size / row_bytes))
    return with_outcome<reply>(pb::BAD_REQUEST,
                               format("table '%s': a range pull of at most %llu rows", name.c_str(),
                                      static_cast<unsigned long long>(header.limit())));
  if (bulk_synchronous() && !header.observer() && header.clock() + 1 < version_)
    return with_outcome<reply>(pb::STALE_EPOCH,
                               format("version %llu is no longer kept, %llu is the present one",
                                      static_cast<unsigned long long>(header.clock()),
                                      static_cast<unsigned long long>(version_)));
  return std::nullopt;
}

pull_answer shard::read(asker from, const pb::PullHeader& header, const blob& keys) const {
  pull_answer out{from, with_outcome<pb::PullReply>(pb::DONE), {}, {}};
  // Bulk-synchronous, a slot that was taken over may ask for the version before the present one.
  const bool previous = bulk_synchronous() && !header.observer() && header.clock() < version_;
  const auto* before = previous ? &before_[header.table()] : nullptr;
  if (const auto done =
          header.range() ? read_range(header, before, out) : read_keys(header, keys, before, out);
      !done)
    return {from, with_outcome<pb::PullReply>(pb::BAD_REQUEST, done.failure().text), {}, {}};
  if (!header.observer() && ledger_.slowest() < header.clock())
    out.reply.set_staleness(header.clock() - ledger_.slowest());
  return out;
}

result<void> shard::read_keys(const pb::PullHeader& header, const blob& keys,
                              const overwritten* before, pull_answer& out) const {
  const auto positions = keys.as<position>();
  const auto& t = *tables_[header.table()];
  auto [values, writable] = blob::uninitialised(positions.size() * t.spec().row_bytes());
  if (const auto done = t.pull(positions, writable, before); !done) return done;
  meter_.add(work::keys_pulled, positions.size());
  out.values = std::move(values);
  return {};
}

result<void> shard::read_range(const pb::PullHeader& header, const overwritten* before,
                               pull_answer& out) const {
  const auto& t = *tables_[header.table()];
  auto rows = t.read_range({header.first(), header.last()}, header.limit());
  meter_.add(work::keys_pulled, rows.positions.size());
  if (before != nullptr) as_before(*before, t.spec().row_bytes(), rows);
  out.keys = blob::copy_of(span<const position>(rows.positions));
  out.values = blob::copy_of(span<const std::byte>(rows.values));
  if (rows.next) {
    out.reply.set_more(true);
    out.reply.set_next(*rows.next);
  }
  return {};
}

void shard::release_pulls(answers& out) {
  while (!held_.empty() && held_.begin()->first <= ledger_.slowest()) {
    const auto& pull = held_.begin()->second;
    if (auto no = refusal(pull.header, pull.keys))
      out.pulls.push_back({pull.from, std::move(*no), {}, {}});
    else
      out.pulls.push_back(read(pull.from, pull.header, pull.keys));
    held_.erase(held_.begin());
  }
}

pb::SlotNumbers shard::on_adopt(const pb::AdoptSlot& request) {
  if (view_.empty()) return with_outcome<pb::SlotNumbers>(pb::NOT_SERVING);
  if (request.slot() >= ledger_.slots())
    return with_outcome<pb::SlotNumbers>(pb::BAD_REQUEST,
                                         format("slot %u of %u", request.slot(), ledger_.slots()));
  auto reply = with_outcome<pb::SlotNumbers>(
      ledger_.adopt(request.slot(), request.epoch()) ? pb::DONE : pb::STALE_EPOCH);
  reply.set_next_clock(ledger_.next(request.slot()).clock);
  reply.set_next_index(ledger_.next(request.slot()).index);
  reply.set_finished(ledger_.finished(request.slot()));
  reply.set_epoch(ledger_.epoch(request.slot()));
  return reply;
}

answers shard::on_time(instant now) {
  answers out;
  for (auto i = held_.begin(); i != held_.end();) {
    if (now < i->second.deadline) {
      ++i;
      continue;
    }
    pull_answer answer{i->second.from, with_outcome<pb::PullReply>(pb::WAITING), {}, {}};
    say_whom_for(answer.reply, i->first);
    out.pulls.push_back(std::move(answer));
    i = held_.erase(i);
  }
  for (const auto from : gathering_.expired(now)) {
    push_answer answer{from, with_outcome<pb::PushReply>(pb::WAITING)};
    say_whom_for(answer.reply, gathering_.first_clock() + 1);
    out.pushes.push_back(std::move(answer));
  }
  return out;
}

template <class Reply>
void shard::say_whom_for(Reply& reply, std::uint64_t clock) const {
  for (const auto slot : ledger_.below(clock, most_named)) {
    auto* waiting = reply.add_waiting();
    waiting->set_slot(slot);
    waiting->set_clock(ledger_.clock(slot));
  }
}

}  // namespace troupe
