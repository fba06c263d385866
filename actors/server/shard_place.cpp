// The shard's place in the cluster: what a view makes of it, and its rows as a whole.

#include <algorithm>

#include "actors/server/shard.hpp"
#include "core/planted_bug.hpp"

namespace troupe {

// ---- views

void shard::take_place(const shard_place& place, instant now, answers& out) {
  if (place.epoch == place_.epoch) return;
  const bool first = place_.epoch == 0;
  const auto before = std::exchange(place_, place);
  last_message_ = 0;
  set_link(place, now);
  if (first) {
    complete_ = begun_ = !place.joins;
  } else {
    // Whoever passed changes on to us does so again, in the new view.
    for (auto i = unacknowledged_.begin(); i != unacknowledged_.end();) {
      if (!i->copy) {
        ++i;
        continue;
      }
      i->copy->reply = stale<pb::CopyReply>();
      out.copies.push_back(std::move(*i->copy));
      i = unacknowledged_.erase(i);
    }
  }
  if (before.primary && !place.primary) {
    roll_back();
    send_everybody_away(out);
  }
  if (!before.primary && place.primary) {
    if (!first) pass(landmark::promoted);
    barrier_ = sequence_;
    leased_until_ = {};
  }
  if (place.primary && still()) pass(landmark::shard_still);
  drop_snapshot();
  send_changes(now, out);
  release(now, out);
}

void shard::set_link(const shard_place& place, instant now) {
  auto old = std::exchange(link_, std::nullopt);
  if (!place.next) return;
  if (old) old->take_back(now);
  if (old && old->to() == *place.next && !place.next_joins) {
    link_ = std::move(old);
    link_->now_in_sync();
    return;
  }
  link_.emplace(*place.next, place.next_joins, tables_.size(), settings_.copies);
  if (place.next_joins) return;
  if (old && !old->joins())
    old->give_away({all_keys}, *link_);
  else
    link_->begin_equal(sequence_);
}

std::unique_ptr<shard> shard::split_off(std::uint32_t number, std::vector<closed_range> ranges,
                                        std::vector<std::shared_ptr<table>> tables, instant now,
                                        answers& out) {
  pass(landmark::shard_split);
  drop_snapshot();
  roll_back();
  send_everybody_away(out);
  auto part = std::make_unique<shard>(settings_, number, std::vector<closed_range>{},
                                      std::move(tables), present_, meter_);
  for (std::size_t t = 0; t < tables_.size(); ++t) tables_[t]->give_away(ranges, *part->tables_[t]);
  part->ranges_ = std::move(ranges);
  ranges_ = tables_.empty() ? ranges_ : tables_.front()->segments();
  part->place_ = place_;
  part->leased_until_ = leased_until_;
  part->barrier_ = barrier_;
  part->complete_ = complete_;
  part->begun_ = begun_;
  part->ledger_ = ledger_;
  part->version_ = version_;
  part->version_sequence_ = version_sequence_;
  part->before_ = before_;
  part->sequence_ = sequence_;
  if (link_ && !link_->joins()) {
    link_->take_back(now);
    part->link_.emplace(link_->to(), false, tables_.size(), settings_.copies);
    link_->give_away(part->ranges_, *part->link_);
  }
  return part;
}

void shard::leave(answers& out) {
  place_.primary = false;
  link_.reset();
  drop_snapshot();
  send_everybody_away(out);
}

void shard::send_everybody_away(answers& out) {
  for (const auto to : gathering_.drop_all()) out.pushes.push_back({to, stale<pb::PushReply>()});
  for (auto& [clock, pull] : std::exchange(held_, {}))
    out.pulls.push_back({pull.from, stale<pb::PullReply>(), {}, {}});
  for (auto& p : std::exchange(parked_, {})) {
    if (p.push) out.pushes.push_back({p.from, stale<pb::PushReply>()});
    if (p.pull) out.pulls.push_back({p.from, stale<pb::PullReply>(), {}, {}});
    if (p.adopt) out.adoptions.push_back({p.from, stale<pb::SlotNumbers>()});
  }
  for (auto& u : std::exchange(unacknowledged_, {})) {
    if (u.push) out.pushes.push_back({u.push->to, stale<pb::PushReply>()});
    if (u.adopt) out.adoptions.push_back({u.adopt->to, stale<pb::SlotNumbers>()});
    if (u.copy) out.copies.push_back({u.copy->to, stale<pb::CopyReply>()});
  }
}

void shard::lease(instant until, instant now, answers& out) {
  leased_until_ = until;
  if (!serves(now)) return;
  unpark(now, out);
  release(now, out);
}

// ---- whole tables

void shard::end_loading(const pb::LoadPart* with_slots, instant now, answers& out) {
  loading_ = false;
  for (auto& b : before_) b.clear();
  if (link_ && link_->joins()) link_->fill_again();
  if (with_slots != nullptr) {
    send_everybody_away(out);
    for (std::uint32_t slot = 0; slot < ledger_.slots(); ++slot)
      ledger_.set(slot, {{}, 0, false, true});
    for (const auto& record : with_slots->slots())
      if (record.slot() < ledger_.slots()) set_record(record);
    version_ = with_slots->version();
    version_sequence_ = sequence_;
  }
  release(now, out);
}

bool shard::arm_snapshot(bool with_state, std::optional<std::uint64_t> version) {
  if (version && version_ > *version) return false;
  drop_snapshot();
  armed_ = armed{with_state, version};
  begin_snapshot_if_due();
  return true;
}

void shard::begin_snapshot_if_due() {
  const bool early = planted("torn-cut") && number_ % 2 == 1 && armed_ && armed_->version &&
                     version_ + 1 >= *armed_->version;
  if (!early && (!armed_ || (armed_->version && *armed_->version != version_))) return;
  snapshot_ = std::make_unique<snapshot>(tables_, armed_->with_state);
  snapshot_version_ = version_;
  snapshot_slots_.clear();
  for (std::uint32_t slot = 0; slot < ledger_.slots(); ++slot)
    snapshot_slots_.push_back(record_of(slot));
  armed_.reset();
  pass(landmark::snapshot_begun);
}

void shard::drop_snapshot() {
  armed_.reset();
  snapshot_.reset();
}

}  // namespace troupe
