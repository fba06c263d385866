#include "messages/ring.hpp"

#include <algorithm>
#include <cassert>

#include "core/random.hpp"

namespace troupe {
namespace {

struct point {
  position at;
  std::uint32_t server;
};

std::vector<point> points_of(span<const std::uint32_t> servers, std::uint32_t virtual_nodes) {
  std::vector<point> points;
  points.reserve(servers.size() * virtual_nodes);
  for (const auto server : servers)
    for (std::uint32_t node = 0; node < virtual_nodes; ++node)
      points.push_back({seed_of(0x7269'6e67, server, node), server});
  std::sort(points.begin(), points.end(), [](const point& a, const point& b) {
    return a.at != b.at ? a.at < b.at : a.server < b.server;
  });
  // Two points at one position: the lower server has it.
  points.erase(std::unique(points.begin(), points.end(),
                           [](const point& a, const point& b) { return a.at == b.at; }),
               points.end());
  return points;
}

}  // namespace

std::vector<arc> make_ring(span<const std::uint32_t> servers, std::uint32_t virtual_nodes) {
  assert(!servers.empty() && virtual_nodes > 0);
  const auto points = points_of(servers, virtual_nodes);
  std::vector<arc> arcs;
  arcs.reserve(points.size() + 1);
  position first = 0;
  for (const auto& p : points) {
    arcs.push_back({{first, p.at}, p.server});
    first = p.at + 1;
  }
  // The arc across zero ends at the first point, whose server so owns both ends of the number line.
  if (points.back().at != ~position{0})
    arcs.push_back({{first, ~position{0}}, points.front().server});
  return arcs;
}

}  // namespace troupe
