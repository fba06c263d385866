#pragma once
// Consistent hashing: every server has `virtual_nodes` points on the circle of positions, and the
// arc from one point to the next belongs to the server whose point ends it. Karger et al., STOC
// 1997; Stoica et al., SIGCOMM 2001 (virtual nodes); Li et al., OSDI 2014, section 4.3.

#include <cstdint>
#include <vector>

#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct arc {
  closed_range range;
  std::uint32_t server = 0;
};

// The arcs of these servers, in ring order, covering every position exactly once; a pure function
// of its arguments. A server's points depend on its own index alone, so that a join or a departure
// moves only the arcs it must. `servers` holds distinct indices, at least one.
std::vector<arc> make_ring(span<const std::uint32_t> servers, std::uint32_t virtual_nodes);

}  // namespace troupe
