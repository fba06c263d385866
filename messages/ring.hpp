#pragma once
// Consistent hashing: every server has `virtual_nodes` points on the circle of positions; the arc
// from one point to the next belongs to the server whose point ends it, and its copies to the next
// distinct servers onward. Karger et al., STOC 1997; Stoica et al., SIGCOMM 2001 (virtual nodes);
// Li et al., OSDI 2014, section 4.3.

#include <cstdint>
#include <vector>

#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct segment {
  closed_range range;
  std::uint32_t primary = 0;
  std::vector<std::uint32_t> replicas;  // k distinct servers other than the primary, nearest first
  std::uint64_t epoch = 0;
};

// The segments of these servers, in ring order, covering every position exactly once; a pure
// function of its arguments. A server's points depend on its own index alone, so that a join or a
// departure moves only the arcs it must. `servers` holds distinct indices, at least one; `copies`
// is capped at the number of other servers.
std::vector<segment> make_ring(span<const std::uint32_t> servers, std::uint32_t virtual_nodes,
                               std::uint32_t copies, std::uint64_t epoch);

}  // namespace troupe
