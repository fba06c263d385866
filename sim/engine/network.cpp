#include "sim/engine/network.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <stdexcept>

#include "core/text.hpp"

namespace troupe::sim {
namespace {

caf::node_id name_of(node_number n) {
  return *caf::make_node_id(n + 1, format("%040x", n + 1));
}

}  // namespace

// From a node to an actor on another one.
struct route final : carrier {
  route(network& in, lane& l, caf::strong_actor_ptr to, std::uint32_t of_life)
      : net(in), along(l), target(std::move(to)), life(of_life) {}
  void carry(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    net.carry(*this, std::move(what));
  }

  network& net;
  lane& along;
  const caf::strong_actor_ptr target;
  const std::uint32_t life;  // of the target's node
  found_proxy sender;        // the last sender as the target sees it
};

network::network(virtual_system& system, const cast_of_nodes& cast, topology map, recorder& log,
                 std::uint64_t seed, bool serialise, hooks h)
    : system_(system),
      cast_(cast),
      map_(std::move(map)),
      log_(log),
      serialise_(serialise),
      hooks_(std::move(h)),
      facts_(log),
      random_(seed),
      nodes_(cast.size()),
      outboxes_(cast.size()),
      zones_(map_.zones().size()) {}

network::~network() = default;

void network::place(node_number n, const caf::strong_actor_ptr& actor) {
  home_[actor->id()] = n;
  nodes_[n].actors.push_back(actor);
}

void network::publish(node_number n, caf::strong_actor_ptr actor) {
  nodes_[n].published = std::move(actor);
}

node_number network::home_of(caf::actor_id actor) const {
  const auto found = home_.find(actor);
  return found == home_.end() ? nowhere : found->second;
}

caf::strong_actor_ptr network::find(node_number from, role_id id) {
  const auto to = cast_.number(id);
  if (to == nowhere || !nodes_[to].published) return nullptr;
  if (from == to || from == nowhere) return nodes_[to].published;
  auto& known = nodes_[from].found;
  if (known.empty()) known.resize(nodes_.size());
  auto& last = known[to];
  const auto& target = nodes_[to].published;
  if (last.of == target->id() && last.kills == kills_) return last.proxy;
  if (lane_between(from, to).broken) return nullptr;
  last = {target->id(), kills_, proxy_for(from, target)};
  return last.proxy;
}

lane& network::lane_between(node_number from, node_number to) {
  auto& found = lanes_[(static_cast<std::uint64_t>(from) << 32) | to];
  if (!found) {
    found = std::make_unique<lane>();
    found->from = from;
    found->to = to;
    found->settings = map_.between(from, to);
    nodes_[from].lanes.push_back(found.get());
    nodes_[to].lanes.push_back(found.get());
  }
  return *found;
}

caf::strong_actor_ptr network::proxy_for(node_number from, const caf::strong_actor_ptr& target) {
  const auto key = key_of(from, target->id());
  auto& known = proxies_[key];
  if (known.proxy) return known.proxy;
  const auto home = home_.at(target->id());
  auto& l = lane_between(from, home);
  const auto life = nodes_[home].life;
  known.way = std::make_unique<route>(*this, l, target, life);
  caf::actor_config config;
  // Its id is the target's and its node the target's, so that all on one node see one identity.
  known.proxy = caf::make_actor<proxy_actor, caf::strong_actor_ptr>(
      target->id(), name_of(home), &system_.actors(), config,
      // The network owns it, and outlives its proxies.
      std::shared_ptr<carrier>(std::shared_ptr<carrier>{}, known.way.get()));
  l.proxies.push_back(key);
  auto& peers = known_by_[target->id()];
  const bool first = peers.empty();
  if (l.connection == 0 || std::find(peers.begin(), peers.end(), from) == peers.end())
    peers.push_back(from);
  auto proxy = known.proxy;
  if (first) {
    // Last: of one that has ended already it is told at once, and who knew it is forgotten.
    const auto weak = caf::actor_cast<caf::weak_actor_ptr>(target);
    target->get()->attach_functor([this, weak, home, life](const caf::error& reason) {
      if (const auto strong = caf::actor_cast<caf::strong_actor_ptr>(weak))
        on_end_of(strong, home, life, reason);
    });
  }
  return proxy;
}

void network::carry(route& way, caf::mailbox_element_ptr what) {
  const auto& from = nodes_[way.along.from];
  if (closed_ || from.down) return;
  auto p = std::make_unique<parcel>();
  p->along = &way.along;
  p->way = &way;
  p->life = way.life;
  p->kind = facts_.kind(what->content());
  p->bytes = map_.settings().frame + facts_.bytes(what->content());
  p->target = way.target;
  if (what->mid.is_request() && what->sender)
    way.along.asked[{what->sender->id(), what->mid.response_id().integer_value()}] = what->sender;
  p->what = serialise_ ? round_trip(std::move(what)) : std::move(what);
  outboxes_[way.along.from].push_back(std::move(p));
}

caf::mailbox_element_ptr network::round_trip(caf::mailbox_element_ptr what) {
  auto content = what->move_content_to_message();
  std::vector<char> bytes;
  caf::binary_serializer out(system_.actors(), bytes);
  if (auto failed = out(content))
    throw std::logic_error("a message cannot be written: " + system_.actors().render(failed));
  caf::message back;
  caf::binary_deserializer in(system_.actors(), bytes);
  if (auto failed = in(back))
    throw std::logic_error("a message cannot be read back: " + system_.actors().render(failed));
  return caf::make_mailbox_element(std::move(what->sender), what->mid, std::move(what->stages),
                                   std::move(back));
}

// The end of an actor is told to all who have a proxy of it, after all that it has sent them.
void network::on_end_of(const caf::strong_actor_ptr& target, node_number home, std::uint32_t life,
                        const caf::error& reason) {
  const auto found = known_by_.find(target->id());
  if (closed_ || nodes_[home].life != life || found == known_by_.end()) return;
  for (const auto peer : found->second) {
    auto p = std::make_unique<parcel>();
    p->along = &lane_between(home, peer);
    p->life = nodes_[peer].life;
    p->kind = log_.kind("down");
    p->bytes = map_.settings().frame;
    p->target = target;
    p->reason = reason;
    outboxes_[home].push_back(std::move(p));
  }
  known_by_.erase(found);
}

void network::leave(node_number n) {
  auto all = std::move(outboxes_[n]);
  outboxes_[n].clear();
  for (auto& p : all) {
    p->number = p->along->next_number++;
    p->connection = p->along->connection;
    ++p->along->moved.messages;
    p->along->moved.bytes += p->bytes;
    depart(std::move(p));
  }
  // The memory is kept for the next turn.
  all.clear();
  if (outboxes_[n].empty()) outboxes_[n].swap(all);
}

void network::depart(parcel_ptr p) {
  auto& l = *p->along;
  const auto now = hooks_.now();
  const bool ordered = l.settings.ordered;
  const auto meddled = meddling_ && p->what ? meddling_(l.from, l.to, p->kind) : fate{};
  if (l.broken || l.into_the_void || meddled.lost || (l.cuts > 0 && !ordered)) {
    ++l.moved.lost;
    return log_.lost_at_departure(l.from, l.to, p->kind, p->bytes, now);
  }
  if (l.cuts > 0) {
    log_.departs(l.from, l.to, p->kind, p->bytes, now);
    l.stalled.push_back(std::move(p));
    return;
  }
  auto through = nodes_[l.from].out.pass(now, p->bytes, map_.settings().node_bandwidth);
  const auto zone = map_.zone_of(l.from), other = map_.zone_of(l.to);
  const auto squeeze = [&](pipe& next, double rate) {
    const auto more = next.pass(through.begun, p->bytes, rate);
    through = {more.begun, std::max(through.ended, more.ended)};
  };
  if (zone != other) {
    if (zone != topology::no_zone) squeeze(zones_[zone].out, map_.zones()[zone].uplink);
    if (other != topology::no_zone) squeeze(zones_[other].in, map_.zones()[other].uplink);
  }
  auto a = l.wire.send(through, p->bytes, l.settings, random_);
  a.last_byte = a.last_byte + meddled.later;
  if (a.lost) {
    ++l.moved.lost;
    return log_.lost_at_departure(l.from, l.to, p->kind, p->bytes, now);
  }
  log_.departs(l.from, l.to, p->kind, p->bytes, now);
  if (a.again && p->what) {
    auto copy = std::make_unique<parcel>();
    copy->along = p->along;
    copy->way = p->way;
    copy->number = p->number;
    copy->connection = p->connection;
    copy->life = p->life;
    copy->kind = p->kind;
    copy->bytes = p->bytes;
    copy->target = p->target;
    copy->what = caf::make_mailbox_element(p->what->sender, p->what->mid, p->what->stages,
                                           p->what->copy_content_to_message());
    ++l.moved.duplicated;
    log_.doubled(l.to, p->kind, now);
    log_.departs(l.from, l.to, p->kind, p->bytes, now);
    hooks_.arrives_at(*a.again, std::move(copy));
  }
  p->first_byte = a.first_byte;
  hooks_.arrives_at(a.last_byte, std::move(p));
}

void network::on_arrival(parcel_ptr p) {
  auto& l = *p->along;
  const auto now = hooks_.now();
  const bool gone = p->way != nullptr && p->life != nodes_[l.to].life;
  const bool broken = p->connection != l.connection;
  if (gone || broken || nodes_[l.to].down || (l.cuts > 0 && !l.settings.ordered)) {
    ++l.moved.lost;
    return log_.lost_on_the_way(l.from, l.to, p->kind, now);
  }
  if (l.cuts > 0) {
    l.stalled.push_back(std::move(p));
    return;
  }
  // The receiver's own pipe is shared in the order of arrival, which is known only now.
  if (!std::exchange(p->through, true)) {
    const auto at =
        nodes_[l.to].in.pass_until(p->first_byte, now, p->bytes, map_.settings().node_bandwidth);
    if (now < at) return hooks_.arrives_at(at, std::move(p));
  }
  log_.arrives(l.from, l.to, p->kind, p->bytes, now);
  hooks_.deliver(std::move(p));
}

void network::prefetch(const parcel& p, bool next, bool delivery) {
  const auto fetch = [](const void* at, std::size_t lines) {
    for (std::size_t i = 0; i < lines; ++i)
      __builtin_prefetch(static_cast<const char*>(at) + 64 * i);
  };
  if (!next) return fetch(&p, 2);
  if (!delivery) return fetch(p.along, 2);
  fetch(p.what.get(), 4);
  if (p.way != nullptr) fetch(p.way, 2);
}

void network::on_delivery(parcel& p) {
  const auto to = p.along->to;
  if (p.way == nullptr) return kill_proxy(key_of(to, p.target->id()), p.reason);
  if (p.what->mid.is_response())
    lane_between(to, p.along->from).asked.erase({p.target->id(), p.what->mid.integer_value()});
  // Replies cross the network too.
  auto& sender = p.what->sender;
  if (sender) {
    auto& last = p.way->sender;
    if (last.of != sender->id() || last.kills != kills_)
      last = {sender->id(), kills_, home_.count(sender->id()) > 0 ? proxy_for(to, sender) : sender};
    sender = last.proxy;
  }
  p.target->enqueue(std::move(p.what), nullptr);
}

// Nobody finds it any more.
caf::strong_actor_ptr network::take_out_proxy(std::uint64_t key) {
  auto node = proxies_.extract(key);
  if (node.empty()) return nullptr;
  ++kills_;
  auto& l = node.mapped().way->along;
  retired_.push_back(std::move(node.mapped().way));
  l.proxies.erase(std::remove(l.proxies.begin(), l.proxies.end(), key), l.proxies.end());
  return std::move(node.mapped().proxy);
}

void network::kill_proxy(std::uint64_t key, caf::error reason) {
  if (const auto proxy = take_out_proxy(key))
    static_cast<proxy_actor*>(caf::actor_cast<caf::abstract_actor*>(proxy))
        ->kill_proxy(nullptr, std::move(reason));
}

void network::cut(node_number from, node_number to) {
  auto& l = lane_between(from, to);
  if (l.cuts++ > 0) return;
  const auto number = ++l.cut_number;
  if (!l.settings.ordered) return;
  hooks_.call_at(
      hooks_.now() + map_.settings().detection,
      [this, &l, connection = l.connection, number] { break_if_still_cut(l, connection, number); });
}

void network::break_if_still_cut(lane& l, std::uint32_t connection, std::uint64_t cut_number) {
  if (l.cuts == 0 || l.connection != connection || l.cut_number != cut_number) return;
  break_connection(l);
}

// Both ways: a connection that is broken is so for both ends.
void network::break_connection(lane& l) {
  log_.befalls(l.from, "its connection to " + to_string(cast_.role(l.to)) + " breaks",
               hooks_.now());
  for (auto* way : {&l, &way_back(l)}) {
    ++way->connection;
    way->broken = l.cuts > 0 || way->cuts > 0 || way_back(*way).cuts > 0;
    way->into_the_void = false;
    for (const auto& p : std::exchange(way->stalled, {})) {
      ++way->moved.lost;
      log_.lost_on_the_way(way->from, way->to, p->kind, hooks_.now());
    }
    forget_peers(*way);
  }
}

// Who talks along this way hears in the next turn of its node that it talks to nobody: one that
// stands still hears it when it goes on.
void network::forget_peers(lane& way) {
  if (auto asked = std::exchange(way.asked, {}); !asked.empty())
    hooks_.in_turn_of(way.from, [asked = std::move(asked)] {
      for (const auto& [answer, asker] : asked)
        asker->enqueue(nullptr, caf::make_message_id(answer.second),
                       caf::make_message(caf::make_error(caf::sec::remote_linking_failed)),
                       nullptr);
    });
  for (const auto key : std::exchange(way.proxies, {})) {
    auto proxy = take_out_proxy(key);
    if (!proxy) continue;
    hooks_.in_turn_of(way.from, [proxy = std::move(proxy)] {
      static_cast<proxy_actor*>(caf::actor_cast<caf::abstract_actor*>(proxy))
          ->kill_proxy(nullptr, caf::sec::remote_linking_failed);
    });
  }
}

void network::reset(node_number a, node_number b) {
  break_connection(lane_between(a, b));
}

void network::half_open(node_number a, node_number b) {
  auto& l = lane_between(a, b);
  auto& back = way_back(l);
  if (l.broken || l.into_the_void) return;
  log_.befalls(b, "has forgotten its connection to " + to_string(cast_.role(a)), hooks_.now());
  l.into_the_void = true;
  ++back.connection;
  back.broken = true;
  forget_peers(back);
  hooks_.call_at(hooks_.now() + map_.settings().detection, [this, &l, connection = l.connection] {
    if (l.into_the_void && l.connection == connection) break_connection(l);
  });
}

void network::heal(node_number from, node_number to) {
  auto& l = lane_between(from, to);
  if (l.cuts == 0 || --l.cuts > 0) return;
  auto& back = way_back(l);
  if (back.cuts == 0) l.broken = back.broken = false;
  auto waiting = std::exchange(l.stalled, {});
  std::sort(waiting.begin(), waiting.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  for (auto& p : waiting) {
    const auto a = l.wire.send({hooks_.now(), hooks_.now()}, p->bytes, l.settings, random_);
    hooks_.arrives_at(a.last_byte, std::move(p));
  }
}

void network::crash(node_number n) {
  auto& node = nodes_[n];
  ++node.life;
  node.down = true;  // nothing leaves it any more, not even the last words of its dying actors
  outboxes_[n].clear();
  for (const auto& actor : std::exchange(node.actors, {}))
    caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::kill);
  hooks_.call_at(hooks_.now() + map_.settings().detection, [this, n, life = node.life] {
    if (nodes_[n].life != life || !nodes_[n].down) return;
    nodes_[n].published = nullptr;
    for (auto* l : std::vector<lane*>(nodes_[n].lanes))
      if (l->from == n && (!l->proxies.empty() || !way_back(*l).proxies.empty()))
        break_connection(*l);
  });
}

// Whoever still talks to the former life is told at once that it talks to nobody.
void network::restart(node_number n) {
  auto& node = nodes_[n];
  node.down = false;
  node.published = nullptr;
  for (auto* l : std::vector<lane*>(node.lanes))
    if (l->from == n && (!l->proxies.empty() || !way_back(*l).proxies.empty()))
      break_connection(*l);
}

void network::close() {
  closed_ = true;
  for (auto& node : nodes_) {
    node.published = nullptr;
    for (const auto& actor : std::exchange(node.actors, {}))
      caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::kill);
  }
  system_.run_ready();
  // The proxies go with the network: nobody is left to use them.
}

void network::add_to(run_record& record) const {
  for (const auto& node : nodes_)
    for (const auto* l : node.lanes)
      if (l->moved.messages > 0)
        record.by_link[{to_string(cast_.role(l->from)), to_string(cast_.role(l->to))}] = l->moved;
}

}  // namespace troupe::sim
