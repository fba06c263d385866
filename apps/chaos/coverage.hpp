#pragma once
// What a sweep has tried: each kind of fault against each state of the protocol.

#include "apps/chaos/outcome.hpp"

namespace troupe::chaos {

struct cell {
  fault_kind kind;
  const char* state;
};
// All but the impossible ones.
const std::vector<cell>& all_cells();
// Why a fault of this kind never meets the state; null: it can.
const char* impossible(fault_kind kind, const std::string& state);

// Cells with fewer than `least`.
std::vector<cell> thin_cells(const coverage& covered, std::uint64_t least);
// A table for people: kinds across, states down; "-" is impossible.
std::string coverage_table(const coverage& covered);

}  // namespace troupe::chaos
