#include "actors/server/shard_host.hpp"

#include <algorithm>

#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// Those whose parents are here already come later: a shard that was split twice meanwhile is split
// in the order of the numbers.
std::vector<const shard_entry*> own_entries(const view& v, std::uint32_t server) {
  std::vector<const shard_entry*> own;
  for (const auto& e : v.shards())
    if (e.involves(server)) own.push_back(&e);
  return own;
}

}  // namespace

shard_host::shard_host(host_settings settings, make_tables tables, meter& work_done)
    : settings_(settings),
      make_tables_(std::move(tables)),
      meter_(work_done),
      leases_(settings.lease) {}

shard* shard_host::find(std::uint32_t number) {
  const auto found = shards_.find(number);
  return found == shards_.end() ? nullptr : found->second.get();
}

const shard* shard_host::find(std::uint32_t number) const {
  const auto found = shards_.find(number);
  return found == shards_.end() ? nullptr : found->second.get();
}

std::vector<std::uint32_t> shard_host::granters_of(const shard_entry& e) const {
  std::vector<std::uint32_t> all;
  for (const auto server : e.chain)
    if (server != settings_.shard.server) all.push_back(server);
  if (all.empty()) all.push_back(leases::scheduler);
  return all;
}

shard_place shard_host::place_of(const shard_entry& e, const shard* held, instant now) const {
  const auto me = settings_.shard.server;
  shard_place p;
  p.epoch = e.epoch;
  p.primary = e.primary() == me;
  p.joins = e.joining == me;
  p.next = e.after(me);
  p.next_joins = p.next && e.joining == *p.next;
  p.quiet = e.quiet;
  p.serves_from = now;
  if (held != nullptr && held->primary()) p.serves_from = std::max(now, held->serves_from());
  // What those who held it before us were granted by us must have run out.
  if (p.primary && held != nullptr && !held->primary())
    // Whoever they were: views may have been missed, and so may a split.
    p.serves_from = std::max(now, leases_.all_over());
  return p;
}

// The positions of a shard that is split off here now, and of what was split off it since: views
// may have been missed, and each is split in its turn.
std::vector<closed_range> shard_host::ranges_with_heirs(const shard_entry& of) const {
  std::vector<closed_range> ranges;
  for (const auto& e : view_.shards()) {
    const auto* up = &e;
    while (up != nullptr && up->number != of.number && up->parent != up->number &&
           find(up->number) == nullptr && before_.find(up->number) == nullptr)
      up = view_.find(up->parent);
    if (up == nullptr || up->number != of.number) continue;
    const auto its = view_.ranges_of(e.number);
    ranges.insert(ranges.end(), its.begin(), its.end());
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const closed_range& a, const closed_range& b) { return a.first < b.first; });
  return ranges;
}

answers shard_host::install(view next, instant now) {
  answers out;
  if (next.number() <= view_.number()) return out;
  const auto me = settings_.shard.server;
  before_ = std::exchange(view_, std::move(next));
  for (const auto& m : view_.members())
    if (!before_.has_member(m.server, m.incarnation)) leases_.withdrawn(m.server);
  // A shard that was split is split here, before anybody changes places.
  for (const auto& e : view_.shards()) {
    auto* parent = e.parent == e.number ? nullptr : find(e.parent);
    if (parent == nullptr || find(e.number) != nullptr || before_.find(e.number) != nullptr)
      continue;
    shards_.emplace(e.number,
                    parent->split_off(e.number, ranges_with_heirs(e), make_tables_(), now, out));
  }
  for (auto i = shards_.begin(); i != shards_.end();) {
    const auto* e = view_.find(i->first);
    const bool stays = e != nullptr && e->involves(me);
    // What joins in this view is to be filled from its beginning, whatever it held.
    // So is what everybody had lost, even where some of it was.
    const bool filled_anew = stays && (e->joining == me || (e->restoring && e->primary() == me));
    const bool anew = filled_anew && e->epoch != i->second->epoch();
    if (stays && !anew) {
      ++i;
      continue;
    }
    i->second->leave(out);
    i = shards_.erase(i);
  }
  for (const auto* e : own_entries(view_, me)) {
    auto& held = shards_[e->number];
    const auto place = place_of(*e, held.get(), now);
    if (!held) {
      held = std::make_unique<shard>(settings_.shard, e->number, view_.ranges_of(e->number),
                                     make_tables_(), view_, meter_);
      if (e->restoring && place.primary) held->begin_loading();
    }
    held->take_place(place, now, out);
    renew(*held, now, out);
  }
  return out;
}

// ---- messages

template <class Header, class Reply, class Put>
shard* shard_host::find_or_refuse(const Header& header, Put put) {
  if (auto* s = find(header.shard())) return s;
  Reply reply;
  reply.set_outcome(view_.empty() ? pb::NOT_SERVING : pb::STALE_VIEW);
  if (!view_.empty()) *reply.mutable_view() = view_.to_message();
  put(std::move(reply));
  return nullptr;
}

answers shard_host::on_push(asker from, const pb::PushHeader& header, const blob& keys,
                            const blob& values, instant now) {
  answers out;
  if (auto* s = find_or_refuse<pb::PushHeader, pb::PushReply>(header, [&](pb::PushReply r) {
        out.pushes.push_back({from, std::move(r)});
      }))
    s->on_push(from, header, keys, values, now, out);
  return out;
}

answers shard_host::on_pull(asker from, const pb::PullHeader& header, const blob& keys,
                            instant now) {
  answers out;
  if (auto* s = find_or_refuse<pb::PullHeader, pb::PullReply>(header, [&](pb::PullReply r) {
        out.pulls.push_back({from, std::move(r), {}, {}});
      }))
    s->on_pull(from, header, keys, now, out);
  return out;
}

answers shard_host::on_adopt(asker from, const pb::AdoptSlot& request, instant now) {
  answers out;
  if (auto* s = find_or_refuse<pb::AdoptSlot, pb::SlotNumbers>(request, [&](pb::SlotNumbers r) {
        out.adoptions.push_back({from, std::move(r)});
      }))
    s->on_adopt(from, request, now, out);
  return out;
}

answers shard_host::on_copy(asker from, const pb::CopyHeader& header, const blob& keys,
                            const blob& rows, instant now) {
  answers out;
  if (header.epoch() > view_.number()) {  // a view that has not reached us
    pb::CopyReply later;
    later.set_outcome(pb::LATER);
    later.set_text("has an older view");
    out.copies.push_back({from, std::move(later)});
  } else if (auto* s = find_or_refuse<pb::CopyHeader, pb::CopyReply>(header, [&](pb::CopyReply r) {
               out.copies.push_back({from, std::move(r)});
             })) {
    s->on_copy(from, header, keys, rows, now, out);
  }
  return out;
}

answers shard_host::on_copied(const copy_message& message, const pb::CopyReply& reply,
                              instant now) {
  answers out;
  auto* s = find(message.header.shard());
  // An answer to what was said in an earlier place is none to what is said now.
  if (s != nullptr && s->epoch() == message.header.epoch())
    s->on_copied(message.header.number(), reply, now, out);
  if (reply.outcome() == pb::STALE_VIEW && reply.view().number() > view_.number())
    if (auto newer = view::from_message(reply.view())) {
      auto more = install(std::move(*newer), now);
      const auto append = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
      };
      append(out.pushes, more.pushes);
      append(out.pulls, more.pulls);
      append(out.adoptions, more.adoptions);
      append(out.copies, more.copies);
      append(out.changes, more.changes);
    }
  return out;
}

answers shard_host::on_copy_failure(const copy_message& message, const std::string& why,
                                    instant now) {
  answers out;
  auto* s = find(message.header.shard());
  if (s != nullptr && s->epoch() == message.header.epoch())
    s->on_copy_failure(message.header.number(), why, now, out);
  return out;
}

answers shard_host::on_time(instant now) {
  answers out;
  for (const auto& [number, s] : shards_) s->on_time(now, out);
  return out;
}

std::optional<instant> shard_host::next_wake(instant now) const {
  std::optional<instant> next;
  for (const auto& [number, s] : shards_)
    if (const auto wake = s->next_wake(now); wake && (!next || *wake < *next)) next = wake;
  return next;
}

// ---- leave to answer

std::vector<lease_request> shard_host::lease_requests() const {
  std::vector<lease_request> all;
  if (!leases_.on() || view_.empty()) return all;
  std::vector<std::uint32_t> whom;
  for (const auto& [number, s] : shards_)
    if (s->primary())
      for (const auto g : granters_of(*view_.find(number))) whom.push_back(g);
  std::sort(whom.begin(), whom.end());
  whom.erase(std::unique(whom.begin(), whom.end()), whom.end());
  for (const auto to : whom) {
    lease_request r;
    r.to = to;
    r.request.set_server(settings_.shard.server);
    r.request.set_incarnation(settings_.incarnation);
    r.request.set_view(view_.number());
    all.push_back(std::move(r));
  }
  return all;
}

void shard_host::renew(shard& s, instant now, answers& out) {
  if (s.primary()) s.lease(leases_.until(granters_of(*view_.find(s.number()))), now, out);
}

answers shard_host::on_lease(std::uint32_t from, const pb::LeaseReply& reply, instant asked,
                             instant now) {
  answers out;
  if (!reply.granted()) {
    if (reply.view().number() > view_.number())
      if (auto newer = view::from_message(reply.view())) return install(std::move(*newer), now);
    return out;
  }
  leases_.granted(from, planted("lease-from-answer") ? now : asked);
  for (const auto& [number, s] : shards_) renew(*s, now, out);
  return out;
}

// A view that is older than the asker's is no reason to refuse: if a later one makes us primary, we
// wait for what we granted.
pb::LeaseReply shard_host::grant(const pb::LeaseRequest& request, instant now) {
  pb::LeaseReply reply;
  const bool known = view_.number() <= request.view();
  reply.set_granted(known);
  if (known)
    leases_.grant(request.server(), now);
  else
    *reply.mutable_view() = view_.to_message();
  return reply;
}

// ---- what it says of itself

pb::ServerReport shard_host::report(instant now) const {
  pb::ServerReport r;
  r.set_server(settings_.shard.server);
  r.set_incarnation(settings_.incarnation);
  r.set_view(view_.number());
  for (const auto& [number, s] : shards_) {
    auto* one = r.add_shards();
    one->set_shard(number);
    one->set_epoch(s->epoch());
    one->set_primary(s->primary());
    one->set_ready(s->next_is_filled());
    one->set_still(s->primary() && s->still());
    one->set_trouble(s->trouble_behind(now, settings_.copy_patience));
    one->set_keys(s->keys_moved());
    std::uint64_t rows = 0;
    if (!s->loading())
      for (const auto& t : s->tables()) rows += t->rows();
    one->set_rows(rows);
    one->set_waiting_for(s->waiting_for(now));
  }
  return r;
}

}  // namespace troupe
