#pragma once
// From a scenario that breaks a promise to a small one that breaks the same: fewer faults, fewer
// nodes, shorter. After Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
// TSE 2002: halves first, then one by one.

#include <functional>

#include "config/scenario.hpp"

namespace troupe::chaos {

// The same with every random choice of faults made: each strikes once, at whom it would have
// struck.
config::Scenario made_explicit(const config::Scenario& scenario);

struct shrinking {
  // Whether a scenario still breaks the promise.
  std::function<bool(const config::Scenario&)> breaks;
  std::size_t most_runs = 400;
};

// `runs`, if given, is how many runs it took.
config::Scenario shrink(const config::Scenario& scenario, const shrinking& how,
                        std::size_t* runs = nullptr);

}  // namespace troupe::chaos
