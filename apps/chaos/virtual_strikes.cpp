// What each kind of fault does to a cluster in virtual time.
#include <algorithm>

#include "apps/chaos/spoil.hpp"
#include "apps/chaos/virtual_faults.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe::chaos {

using sim::node_number;

void virtual_faults::on_nodes(active& a, const std::function<void(node_number)>& begin,
                              const std::function<void(node_number)>& end) {
  for (const auto n : a.nodes) begin(n);
  a.end = [nodes = a.nodes, end] {
    for (const auto n : nodes) end(n);
  };
}

void virtual_faults::carry_out(active& a) {
  auto& sim = stage_.sim();
  const auto& s = *a.what;
  const auto& how = s.how;
  const auto peers = numbers_of(s.peer);
  const auto each_pair = [&](const std::function<void(node_number, node_number)>& act) {
    for (const auto n : a.nodes)
      for (const auto peer : peers)
        if (peer != n) act(n, peer);
  };
  switch (s.kind) {
    case fault_kind::kill:
      return on_nodes(
          a, [&](node_number n) { sim.crash(n); },
          [this](node_number n) { stage_.sim().restart(n); });
    case fault_kind::pause:
      return on_nodes(
          a, [&](node_number n) { sim.pause(n); },
          [this](node_number n) { stage_.sim().resume(n); });
    case fault_kind::slow:
      return on_nodes(
          a, [&](node_number n) { sim.set_speed(n, 1 / how.factor()); },
          [this](node_number n) { stage_.sim().set_speed(n, 1); });
    case fault_kind::straggler:
      return on_nodes(
          a,
          [&](node_number n) {
            sim::straggler_rule rule;
            rule.probability = how.chance();
            rule.factor = std::max(1.0, how.factor());
            sim.set_stragglers(n, {rule});
          },
          [this](node_number n) { stage_.sim().set_stragglers(n, {}); });
    case fault_kind::skew:
      return on_nodes(
          a, [&](node_number n) { sim.set_clock_rate(n, how.factor()); },
          [this](node_number n) { stage_.sim().set_clock_rate(n, 1); });
    case fault_kind::partition:
      return partition(a);
    case fault_kind::latency:
      return change_links(a, true, false, [&how](sim::link_settings& l) {
        l.latency += duration(how.latency());
        l.jitter += duration(how.jitter());
      });
    case fault_kind::bandwidth:
      return change_links(a, true, false, [&how](sim::link_settings& l) {
        l.bandwidth = static_cast<double>(how.bandwidth());
      });
    case fault_kind::loss:
      return change_links(a, true, false, [&how](sim::link_settings& l) {
        l.loss = std::min(how.chance(), 0.9);
        l.retransmit_after = std::max(4 * l.latency, duration(std::chrono::milliseconds(1)));
      });
    case fault_kind::duplicate:
      return change_links(a, true, true, [&how](sim::link_settings& l) {
        l.ordered = false;
        l.duplication = how.chance();
        l.jitter += duration(how.latency());
      });
    case fault_kind::reorder:
      return change_links(a, true, true, [&how](sim::link_settings& l) {
        l.ordered = false;
        l.jitter += duration(how.latency());
      });
    case fault_kind::drop:
    case fault_kind::delay:
      return meddle();
    case fault_kind::reset:
      return each_pair([&](node_number n, node_number peer) { sim.reset(n, peer); });
    case fault_kind::half_open:
      return each_pair([&](node_number n, node_number peer) { sim.half_open(n, peer); });
    case fault_kind::disk_full:
      return set_disk(a, &sim::disk_trouble::full);
    case fault_kind::disk_fails:
      return set_disk(a, &sim::disk_trouble::fails);
    case fault_kind::short_write:
      return set_disk(a, &sim::disk_trouble::short_writes);
    case fault_kind::lost_sync:
      return set_disk(a, &sim::disk_trouble::lies);
    case fault_kind::descriptors:
      return set_disk(a, &sim::disk_trouble::no_descriptors);
    case fault_kind::bit_flip:
    case fault_kind::truncate:
      if (!s_.checkpoints.empty())
        spoil_latest_checkpoint(*s_.files, s_.checkpoints, s.kind == fault_kind::truncate, random_);
      return;
    case fault_kind::not_a_number:
    case fault_kind::throws:
      return;  // the worker's own switches have done it: virtual_faults::on_own_fault
    case fault_kind::wrong_version:
      for (const auto n : a.nodes)
        stage_.knock(
            stage_.cast().role(n), protocol_version + 1, [this, n](const pb::JoinReply& reply) {
              if (reply.accepted())
                s_.on_violation({"who speaks another version is refused",
                                 name(n) + " of another protocol was let in", stage_.sim().now()});
            });
      return;
    case fault_kind::duplicate_name:
      for (const auto n : a.nodes)
        if (!sim.down(n)) sim.start_node(n, [this, n](std::uint32_t) { stage_.begin_life(n); });
      return;
    case fault_kind::join:
      for (const auto n : a.nodes)
        if (begun_.insert(n).second)
          sim.start_node(n, [this, n](std::uint32_t) { stage_.begin_life(n); });
      return;
    case fault_kind::drain:
      for (const auto n : a.nodes) stage_.drain(n);
      return;
    case fault_kind::rebalance:
      return stage_.rebalance();
  }
}

void virtual_faults::set_disk(active& a, bool sim::disk_trouble::*what) {
  const auto set = [this, what](node_number n, bool whether) {
    troubles_[n].*what = whether;
    stage_.sim().disk(n).set_trouble(troubles_[n]);
  };
  on_nodes(
      a, [&](node_number n) { set(n, true); }, [set](node_number n) { set(n, false); });
}

// ---- Links.

void virtual_faults::change_links(active& a, bool both_ways, bool data_only,
                                  const std::function<void(sim::link_settings&)>& apply) {
  const auto peers = numbers_of(a.what->peer);
  const auto change = [&](node_number from, node_number to) {
    // What the scheduler says travels as TCP carries it, always.
    if (from == to || (data_only && (from == 0 || to == 0))) return;
    for (const auto& c : changes_)
      if (c.of == &a && c.from == from && c.to == to) return;
    changes_.push_back({from, to, apply, &a});
    relink(from, to);
  };
  for (const auto n : a.nodes)
    for (const auto peer : peers) {
      change(n, peer);
      if (both_ways) change(peer, n);
    }
}

// A way is what the topology says and what the faults in force make of it.
void virtual_faults::relink(node_number from, node_number to) {
  auto l = stage_.sim().map().between(from, to);
  for (const auto& c : changes_)
    if (c.from == from && c.to == to) c.apply(l);
  stage_.sim().set_link(from, to, l);
}

void virtual_faults::meddle() {
  stage_.sim().meddle([this](node_number from, node_number to, sim::message_kind kind) {
    sim::network::fate f;
    for (const auto& a : active_) {
      const auto& s = *a->what;
      if (a->over || (s.kind != fault_kind::drop && s.kind != fault_kind::delay)) continue;
      // Between workers and servers alone: the rest relies on TCP.
      if (from == 0 || to == 0 || stage_.sim().log().name_of(kind) != s.how.message()) continue;
      if (std::find(a->nodes.begin(), a->nodes.end(), from) == a->nodes.end()) continue;
      if (!s.peer.hold(stage_.cast().role(to))) continue;
      if (s.kind == fault_kind::drop)
        f.lost |= random_.unit() < s.how.chance();
      else
        f.later += duration(
            static_cast<std::int64_t>(random_.unit() * static_cast<double>(s.how.latency())));
    }
    return f;
  });
}

void virtual_faults::partition(active& a) {
  std::vector<role_id> nodes;
  for (const auto n : a.nodes) nodes.push_back(stage_.cast().role(n));
  std::vector<std::pair<node_number, node_number>> cuts;
  for (const auto& [from, to] : cuts_of(*a.what, nodes, who_)) {
    const auto n = stage_.cast().number(from), peer = stage_.cast().number(to);
    if (n != sim::nowhere && peer != sim::nowhere) cuts.emplace_back(n, peer);
  }
  for (const auto& [from, to] : cuts) stage_.sim().cut(from, to, false);
  a.end = [this, cuts] {
    for (const auto& [from, to] : cuts) stage_.sim().heal(from, to, false);
  };
}

}  // namespace troupe::chaos
