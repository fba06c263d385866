#pragma once
// A scenario drawn from a seed: cluster, workload and faults, within the budget that every job must
// survive. Each seed is given a kind of fault and a state of the protocol to bring together, in
// turn, so that a sweep meets them all; the rest is chance.

#include "config/scenario.hpp"

namespace troupe::chaos {

// `job`: a job file, which is then the workload; empty: one of the built-in ones.
config::Scenario draw(std::uint64_t seed, const std::string& job = "");

}  // namespace troupe::chaos
