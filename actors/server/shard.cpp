#include "actors/server/shard.hpp"

#include <algorithm>
#include <cstring>

#include "actors/server/table/gather.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Beyond twice the bound, of clocks that are not whole yet.
constexpr std::uint64_t clocks_gathered_ahead = 16;

step_context context_of(const pb::PushHeader& header) {
  return {header.clock(), header.share(), {header.told().begin(), header.told().end()}};
}

}  // namespace

shard::shard(shard_settings settings, std::uint32_t number, std::vector<closed_range> ranges,
             std::vector<std::shared_ptr<table>> tables, const view& present, meter& work_done)
    : settings_(settings),
      number_(number),
      ranges_(std::move(ranges)),
      tables_(std::move(tables)),
      present_(present),
      meter_(work_done),
      ledger_(settings.slots),
      before_(tables_.size()),
      rejected_(tables_.size()) {
  gathers_ = bulk_synchronous();
  for (const auto& t : tables_) {
    gathers_ = gathers_ || t->spec().how != combine::each;
    for (const auto& range : ranges_) t->add_segment(range);
  }
}

bool shard::serves(instant now) const {
  if (planted("lease-ignored")) return place_.primary && committed() >= barrier_;
  return place_.primary && now < leased_until_ && now >= place_.serves_from &&
         committed() >= barrier_;
}

void shard::park(parked p) {
  parked_.push_back(std::move(p));
}

void shard::unpark(instant now, answers& out) {
  if (parked_.empty() || !serves(now)) return;
  for (auto& p : std::exchange(parked_, {})) {
    if (!p.pull && (place_.quiet || loading_)) {
      parked_.push_back(std::move(p));
      continue;
    }
    if (p.push) on_push(p.from, *p.push, p.keys, p.values, now, out);
    if (p.pull) on_pull(p.from, *p.pull, p.keys, now, out);
    if (p.adopt) on_adopt(p.from, *p.adopt, now, out);
  }
}

std::size_t shard::waiting() const {
  return held_.size() + parked_.size() + unacknowledged_.size();
}

// ---- pushes

void shard::on_push(asker from, const pb::PushHeader& header, const blob& keys, const blob& values,
                    instant now, answers& out) {
  if (auto wrong = wrong_view<pb::PushReply>(header)) {
    out.pushes.push_back({from, std::move(*wrong)});
    return;
  }
  if (!serves(now)) return park({from, header, {}, {}, keys, values, now + hold_of(header)});
  if (auto reply = take(from, header, keys, values, now)) {
    const bool settled = reply->outcome() == pb::DONE || reply->outcome() == pb::REJECTED;
    push_answer answer{from, std::move(*reply)};
    if (settled)
      when_committed({sequence_, now + hold_of(header), std::move(answer), {}, {}}, out);
    else
      out.pushes.push_back(std::move(answer));
  }
  apply_open_clocks(now, out);
  send_changes(now, out);
  release(now, out);
}

std::optional<pb::PushReply> shard::take(asker from, const pb::PushHeader& header, const blob& keys,
                                         const blob& values, instant now) {
  using reply = pb::PushReply;
  if (auto wrong = misfit(header, keys, values))
    return with_outcome<reply>(pb::BAD_REQUEST, std::move(*wrong));
  const push_number number{header.clock(), header.index()};
  auto arrived = ledger_.classify(header.slot(), header.epoch(), number);
  if (arrived == arrival::unknown) {
    if (!header.has_base()) return with_outcome<reply>(pb::UNKNOWN_SLOT);
    if (place_.quiet) {
      park({from, header, {}, {}, keys, values, now + hold_of(header)});
      return std::nullopt;
    }
    ledger_.set_base(header.slot(), {header.base_clock(), header.base_index()});
    if (link_) link_->note_slot(header.slot());
    changed(now);
    arrived = ledger_.classify(header.slot(), header.epoch(), number);
  }
  switch (arrived) {
    case arrival::fenced:
      return with_outcome<reply>(
          pb::STALE_EPOCH, format("slot %u has been taken over (epoch %llu)", header.slot(),
                                  static_cast<unsigned long long>(ledger_.epoch(header.slot()))));
    case arrival::repeated:
      if (auto* pending = gathering_.find(header.slot(), number)) {
        pending->askers.emplace_back(from, now + hold_of(header));
        return std::nullopt;
      }
      if (planted("no-duplicate-check") && !loading_) {
        apply(header.table(), keys, values.data(), context_of(header));
        changed(now);
      }
      return with_outcome<reply>(pb::DONE);
    case arrival::too_early: {
      auto missing = with_outcome<reply>(pb::MISSING);
      missing.set_expected_clock(ledger_.next(header.slot()).clock);
      missing.set_expected_index(ledger_.next(header.slot()).index);
      return missing;
    }
    default:
      break;
  }
  return take_next(from, header, keys, values, now);
}

std::optional<pb::PushReply> shard::take_next(asker from, const pb::PushHeader& header,
                                              const blob& keys, const blob& values, instant now) {
  using reply = pb::PushReply;
  if (loading_) return with_outcome<reply>(pb::LATER, "its rows are being replaced");
  if (place_.quiet) {
    park({from, header, {}, {}, keys, values, now + hold_of(header)});
    return std::nullopt;
  }
  if (link_ && link_->gates() && link_->waiting_bytes() > settings_.copies.most_waiting)
    return with_outcome<reply>(pb::LATER, whom_copies_wait_for());
  const push_number number{header.clock(), header.index()};
  if (header.finish()) {
    ledger_.finish(header.slot());
    if (link_) link_->note_slot(header.slot());
    changed(now);
    return with_outcome<reply>(pb::DONE);
  }
  // A slot that runs ahead of the bound without pulling must not fill the memory: its push is put
  // off. What is gathered changes nothing before its clock is whole, so a few clocks more do no
  // harm; a slot that pulls elsewhere is often a little ahead of what this shard has heard.
  const auto allowed =
      settings_.staleness.value_or(0) * (gathers_ ? 2 : 1) + (gathers_ ? clocks_gathered_ahead : 0);
  if (settings_.staleness && header.clock() > ledger_.slowest() + allowed) {
    auto waiting = with_outcome<reply>(pb::LATER);
    say_whom_for(waiting, header.clock() - *settings_.staleness);
    return waiting;
  }
  if (!gathers_) {
    const bool applied = apply(header.table(), keys, values.data(), context_of(header));
    ledger_.take(header.slot(), number, header.last());
    if (link_ && !planted("clock-not-replicated")) link_->note_slot(header.slot());
    changed(now);
    pass(landmark::push_applied);
    return with_outcome<reply>(applied ? pb::DONE : pb::REJECTED);
  }
  gathering_.add(header.slot(), number,
                 {header.table(),
                  header.share(),
                  {header.told().begin(), header.told().end()},
                  keys,
                  values,
                  {{from, now + hold_of(header)}}});
  ledger_.take(header.slot(), number, header.last());
  pass(landmark::push_gathered);
  return std::nullopt;
}

std::optional<std::string> shard::misfit(const pb::PushHeader& header, const blob& keys,
                                         const blob& values) const {
  if (header.slot() >= ledger_.slots())
    return format("slot %u of %u", header.slot(), ledger_.slots());
  if (header.table() >= tables_.size())
    return format("table %u of %zu", header.table(), tables_.size());
  const auto& t = *tables_[header.table()];
  const auto row_bytes = t.pushed_bytes();
  if (!keys.divides<position>() || keys.size() / sizeof(position) * row_bytes != values.size())
    return format("table '%s': %zu bytes of keys and %zu of values do not fit rows of %zu bytes",
                  t.spec().name.c_str(), keys.size(), values.size(), row_bytes);
  if (!strictly_ascending(keys.as<position>()))
    return format("table '%s': the keys of a push must ascend", t.spec().name.c_str());
  if (!owns_all(keys.as<position>()))
    return format("table '%s': a key belongs to another shard", t.spec().name.c_str());
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

bool shard::apply(std::size_t t, const blob& positions, const void* values, step_context step) {
  if (positions.empty()) return true;
  const auto keys = positions.as<position>();
  step.clock += settings_.first_clock;
  meter_.add(work::keys_pushed, keys.size());
  keys_moved_ += keys.size();
  overwritten overwrites;
  auto* keep = bulk_synchronous() ? &before_[t] : snapshot_ ? &overwrites : nullptr;
  if (keep) keep->keep_state(snapshot_ != nullptr || tables_[t]->shown_bytes() > 0);
  if (const auto done = tables_[t]->apply(keys, values, step, keep); !done) {
    ++rejected_[t];
    return false;
  }
  if (snapshot_) snapshot_->note(t, keep->runs().back());
  if (link_)
    link_->note_rows(t, positions, tables_[t]->spec().row_bytes() + tables_[t]->state_bytes());
  return true;
}

void shard::apply_open_clocks(instant now, answers& out) {
  // The clocks below the slowest slot's are whole. One that nobody pushed to counts too.
  while (gathers_ && !place_.quiet && !gathering_.empty() &&
         gathering_.first_clock() < ledger_.slowest()) {
    const auto clock = gathering_.first_clock();
    auto pushes = gathering_.take_first();
    for (auto& b : before_) b.clear();
    version_ = clock + 1;
    apply_clock(clock, pushes, now, out);
    begin_snapshot_if_due();
  }
}

void shard::apply_clock(std::uint64_t clock, open_clock& pushes, instant now, answers& out) {
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
  std::vector<bool> fine;
  for (auto& [number, push] : pushes)
    fine.push_back(
        tables_[push.table]->spec().how == combine::each
            ? apply(push.table, push.keys, push.values.data(), {clock, push.share, push.told})
            : combined_fine[push.table]);
  if (link_ && !planted("clock-not-replicated"))
    for (std::uint32_t slot = 0; slot < ledger_.slots(); ++slot) link_->note_slot(slot);
  changed(now);
  version_sequence_ = sequence_;
  pass(landmark::push_applied);
  auto was_fine = fine.begin();
  for (auto& [number, push] : pushes) {
    const auto outcome = *was_fine++ ? pb::DONE : pb::REJECTED;
    for (const auto& [to, deadline] : push.askers)
      when_committed(
          {sequence_, deadline, push_answer{to, with_outcome<pb::PushReply>(outcome)}, {}, {}},
          out);
  }
}

bool shard::apply_combined(std::size_t t, std::uint64_t clock,
                           const std::vector<const gathered_push*>& pushes, std::uint32_t slots) {
  const auto divisor = static_cast<double>(slots);
  std::vector<gather_input> inputs;
  double share = 0;
  std::vector<double> told;  // every slot says the same, or nothing
  for (const auto* push : pushes) {
    if (told.empty()) told = push->told;
    share += push->share;  // of those without keys here too: shares must not depend on sharding
    if (push->keys.empty()) continue;
    inputs.push_back({push->keys.as<position>(), push->values.data()});
    meter_.add(work::keys_pushed, inputs.back().positions.size());
  }
  if (inputs.empty()) return true;
  const auto sum =
      gather(tables_[t]->spec().type,
             tables_[t]->pushed_bytes() / bytes_of(tables_[t]->spec().type), inputs, divisor);
  return apply(t, blob::copy_of(span<const position>(sum.positions)), sum.values.data(),
               {clock, share / divisor, std::move(told)});
}

// ---- slots

void shard::on_adopt(asker from, const pb::AdoptSlot& request, instant now, answers& out) {
  using reply = pb::SlotNumbers;
  constexpr duration hold = std::chrono::seconds(1);
  if (auto wrong = wrong_view<reply>(request)) {
    out.adoptions.push_back({from, std::move(*wrong)});
    return;
  }
  if (!serves(now) || place_.quiet || loading_)
    return park({from, {}, {}, request, {}, {}, now + hold});
  if (request.slot() >= ledger_.slots()) {
    out.adoptions.push_back(
        {from, with_outcome<reply>(pb::BAD_REQUEST,
                                   format("slot %u of %u", request.slot(), ledger_.slots()))});
    return;
  }
  auto numbers = with_outcome<reply>(
      ledger_.adopt(request.slot(), request.epoch()) ? pb::DONE : pb::STALE_EPOCH);
  // What is taken but not applied would be lost with this server; the new life sends it again.
  const auto known = applied(request.slot());
  numbers.set_next_clock(known.next.clock);
  numbers.set_next_index(known.next.index);
  numbers.set_finished(known.finished);
  numbers.set_epoch(known.epoch);
  numbers.set_unknown(known.unknown);
  if (numbers.outcome() != pb::DONE) {
    out.adoptions.push_back({from, std::move(numbers)});
    return;
  }
  if (link_) link_->note_slot(request.slot());
  changed(now);
  pass(landmark::slot_adopted);
  when_committed({sequence_, now + hold, {}, adopt_answer{from, std::move(numbers)}, {}}, out);
  send_changes(now, out);
  release(now, out);
}

}  // namespace troupe
