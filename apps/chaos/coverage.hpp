#pragma once
// What a sweep has tried: each kind of fault against each state of the protocol.

#include "apps/chaos/outcome.hpp"

namespace troupe::chaos {

struct cell {
  fault_kind kind;
  const char* state;
};
// Every state can be passed while a fault of any kind is in force, so all are possible.
const std::vector<cell>& all_cells();

// Cells with fewer than `least`.
std::vector<cell> thin_cells(const coverage& covered, std::uint64_t least);
// In how many runs with a fault that struck a filter was in a chain, by its name.
using filters_met = std::map<std::string, std::uint64_t>;
// Filters there are that were met less often than `least`.
std::vector<std::string> thin_filters(const filters_met& met, std::uint64_t least);
std::string filters_line(const filters_met& met);

// A table for people: kinds across, states down.
std::string coverage_table(const coverage& covered);

}  // namespace troupe::chaos
