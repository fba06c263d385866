#include "sim/network/topology.hpp"

namespace troupe::sim {

topology::topology(const cast_of_nodes& cast, network_settings settings)
    : cast_(cast), settings_(std::move(settings)), zone_of_(cast.size(), no_zone) {
  for (const auto& z : settings_.zones) {
    const auto first = static_cast<std::uint32_t>(zones_.size());
    for (std::uint32_t i = 0; i < z.count; ++i)
      zones_.push_back({z.count == 1 ? z.name : z.name + "-" + std::to_string(i), z.latency,
                        z.bandwidth, z.uplink});
    std::uint32_t next = 0;
    for (node_number n = 0; n < cast_.size(); ++n)
      if (zone_of_[n] == no_zone && z.holds.holds(cast_.role(n), {}))
        zone_of_[n] = first + next++ % z.count;
  }
}

const std::string& topology::zone_name(node_number n) const {
  static const std::string none;
  return zone_of_[n] == no_zone ? none : zones_[zone_of_[n]].name;
}

link_settings topology::between(node_number from, node_number to) const {
  auto s = settings_.between;
  if (zone_of_[from] != no_zone && zone_of_[from] == zone_of_[to]) {
    s.latency = zones_[zone_of_[from]].latency;
    s.bandwidth = zones_[zone_of_[from]].bandwidth;
  }
  for (const auto& o : settings_.links) {
    const bool there = holds(o.from, from) && holds(o.to, to);
    const bool back = o.both_ways && holds(o.from, to) && holds(o.to, from);
    if (!there && !back) continue;
    s.latency = o.latency.value_or(s.latency);
    s.jitter = o.jitter.value_or(s.jitter);
    s.bandwidth = o.bandwidth.value_or(s.bandwidth);
    s.loss = o.loss.value_or(s.loss);
    s.duplication = o.duplication.value_or(s.duplication);
    s.ordered = o.ordered.value_or(s.ordered);
  }
  return s;
}

std::vector<node_number> topology::matching(const node_pattern& pattern) const {
  std::vector<node_number> found;
  for (node_number n = 0; n < cast_.size(); ++n)
    if (holds(pattern, n)) found.push_back(n);
  return found;
}

}  // namespace troupe::sim
