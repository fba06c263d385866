#include "apps/virtual/virtual_settings.hpp"

#include <algorithm>
#include <map>

#include "core/text.hpp"

namespace troupe {
namespace {

// Reads patterns and keeps the first that is wrong.
class pattern_reader {
 public:
  sim::node_pattern operator()(const std::string& text, const char* list, int i, const char* key) {
    auto p = sim::node_pattern::parse(text);
    if (p) return *p;
    if (!failure_)
      failure_ = {errc::bad_config,
                  format("simulate.%s[%d].%s: %s", list, i + 1, key, p.failure().text.c_str())};
    return {};
  }
  const std::optional<error>& failure() const { return failure_; }

 private:
  std::optional<error> failure_;
};

sim::network_settings network_of(const config::Simulate& s, pattern_reader& nodes) {
  sim::network_settings n;
  const auto& net = s.network();
  n.between.latency = duration(net.latency());
  n.between.jitter = duration(net.jitter());
  n.between.bandwidth = static_cast<double>(net.bandwidth());
  n.between.loss = net.loss();
  n.between.duplication = net.duplication();
  n.between.ordered = net.ordered();
  n.between.retransmit_after = duration(net.retransmit_after());
  n.node_bandwidth = static_cast<double>(net.node_bandwidth());
  n.detection = duration(net.detection());
  n.frame = static_cast<std::uint64_t>(net.frame());
  for (int i = 0; i < s.zones_size(); ++i) {
    const auto& z = s.zones(i);
    n.zones.push_back({z.name(), z.count(), nodes(z.holds(), "zones", i, "holds"),
                       duration(z.latency()), static_cast<double>(z.bandwidth()),
                       static_cast<double>(z.uplink())});
  }
  for (int i = 0; i < s.links_size(); ++i) {
    const auto& l = s.links(i);
    sim::link_override o;
    o.from = nodes(l.from(), "links", i, "from");
    o.to = nodes(l.to(), "links", i, "to");
    o.both_ways = l.both_ways();
    if (l.has_latency()) o.latency = duration(l.latency());
    if (l.has_jitter()) o.jitter = duration(l.jitter());
    if (l.has_bandwidth()) o.bandwidth = static_cast<double>(l.bandwidth());
    if (l.has_loss()) o.loss = l.loss();
    if (l.has_duplication()) o.duplication = l.duplication();
    if (l.has_ordered()) o.ordered = l.ordered();
    n.links.push_back(o);
  }
  return n;
}

sim::prices prices_of(const config::Cost& c) {
  sim::prices p;
  const auto set = [&p](work kind, double ns) { p.of_work[static_cast<std::size_t>(kind)] = ns; };
  set(work::examples, c.example());
  set(work::features, c.feature());
  set(work::keys_pushed, c.key_pushed());
  set(work::keys_pulled, c.key_pulled());
  set(work::keys_prepared, c.key_prepared());
  set(work::bytes_encoded, c.byte_encoded());
  p.message_sent = c.message_sent();
  p.message_received = c.message_received();
  return p;
}

sim::straggler_rule straggler_of(const config::Straggler& s, sim::node_pattern nodes) {
  const auto how = s.distribution() == "exponential" ? sim::slowdown::exponential
                   : s.distribution() == "pareto"    ? sim::slowdown::pareto
                                                     : sim::slowdown::constant;
  return {std::move(nodes), s.probability(), how, s.factor(), s.shape()};
}

planned_fault fault_of(const config::NetworkFault& f, int i, pattern_reader& nodes) {
  using kind = planned_fault::kind;
  planned_fault p;
  static const std::map<std::string, kind> kinds{{"cut", kind::cut},
                                                 {"cut_one_way", kind::cut_one_way},
                                                 {"crash", kind::crash},
                                                 {"pause", kind::pause},
                                                 {"join", kind::join},
                                                 {"drain", kind::drain},
                                                 {"rebalance", kind::rebalance}};
  p.what = kinds.at(f.kind());  // the schema allows no other
  p.node = nodes(f.node(), "faults", i, "node");
  p.peer = nodes(f.peer(), "faults", i, "peer");
  p.at = duration(f.at());
  p.lasts = duration(f.lasts());
  return p;
}

}  // namespace

result<virtual_settings> virtual_settings_of(const config::Job& job) {
  const auto& s = job.simulate();
  pattern_reader nodes;
  virtual_settings v;
  auto& e = v.engine;
  e.cast = {job.cluster().servers(), job.cluster().workers()};
  e.network = network_of(s, nodes);
  e.price = prices_of(s.cost());
  for (int i = 0; i < s.speeds_size(); ++i)
    e.speeds.push_back({nodes(s.speeds(i).nodes(), "speeds", i, "nodes"), s.speeds(i).every(),
                        s.speeds(i).factor()});
  for (int i = 0; i < s.stragglers_size(); ++i)
    e.stragglers.push_back(
        straggler_of(s.stragglers(i), nodes(s.stragglers(i).nodes(), "stragglers", i, "nodes")));
  e.hosts = {s.hosts().count(), s.hosts().cores()};
  e.disk.latency = duration(s.disk().latency());
  e.disk.read_rate = static_cast<double>(s.disk().read_rate());
  e.disk.write_rate = static_cast<double>(s.disk().write_rate());
  e.disk.capacity = static_cast<std::uint64_t>(s.disk().capacity());
  e.disk.write_failure = s.disk().write_failure();
  e.serialise = s.serialise();
  e.seed = job.job().seed();
  for (int i = 0; i < s.faults_size(); ++i) v.faults.push_back(fault_of(s.faults(i), i, nodes));
  // Nodes that join later are numbered behind those of the beginning.
  for (std::size_t i = 0; i < v.faults.size(); ++i) {
    const auto& f = v.faults[i];
    if (f.what != planned_fault::kind::join) continue;
    const bool server = f.node.role == pb::SERVER, one = f.node.index.has_value();
    auto& count = server ? e.cast.servers : e.cast.workers;
    const auto first = server ? job.cluster().servers() : job.cluster().workers();
    if (!one || (!server && f.node.role != pb::WORKER) || *f.node.index < first)
      return error{errc::bad_config,
                   format("simulate.faults[%zu].node: who joins is one server or worker, numbered "
                          "from %u on",
                          i + 1, first)};
    count = std::max(count, *f.node.index + 1);
  }
  v.objective_every = duration(s.objective_every());
  v.objective_target = s.objective_target();
  v.time_limit = duration(s.time_limit());
  if (nodes.failure()) return *nodes.failure();
  return v;
}

}  // namespace troupe
