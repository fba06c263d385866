#pragma once
// Which zone a node is in, and what lies between two nodes.

#include <string>
#include <vector>

#include "sim/network/link.hpp"
#include "sim/network/nodes.hpp"

namespace troupe::sim {

struct zone_settings {
  std::string name;
  std::uint32_t count = 1;
  node_pattern holds;
  duration latency{};
  double bandwidth = 0;  // bytes a second between two nodes of the zone; 0: no limit
  double uplink = 0;     // bytes a second that leave it in all, and enter it; 0: no limit
};

struct link_override {
  node_pattern from, to;
  bool both_ways = true;
  std::optional<duration> latency, jitter;
  std::optional<double> bandwidth, loss, duplication;
  std::optional<bool> ordered;
};

struct network_settings {
  link_settings between;      // nodes of different zones, or of none
  double node_bandwidth = 0;  // bytes a second that a node sends, and receives; 0: no limit
  duration detection{std::chrono::seconds(2)};
  std::uint64_t frame = 64;  // bytes of a message beside its content
  std::vector<zone_settings> zones;
  std::vector<link_override> links;
};

class topology {
 public:
  static constexpr std::uint32_t no_zone = UINT32_MAX;
  struct zone {
    std::string name;
    duration latency{};
    double bandwidth = 0, uplink = 0;
  };

  topology(const cast_of_nodes& cast, network_settings settings);

  const network_settings& settings() const { return settings_; }
  const std::vector<zone>& zones() const { return zones_; }
  std::uint32_t zone_of(node_number n) const { return zone_of_[n]; }
  const std::string& zone_name(node_number n) const;
  link_settings between(node_number from, node_number to) const;
  // All nodes that the pattern holds, ascending.
  std::vector<node_number> matching(const node_pattern& pattern) const;

 private:
  bool holds(const node_pattern& p, node_number n) const {
    return p.holds(cast_.role(n), zone_name(n));
  }

  const cast_of_nodes cast_;
  const network_settings settings_;
  std::vector<zone> zones_;
  std::vector<std::uint32_t> zone_of_;
};

}  // namespace troupe::sim
