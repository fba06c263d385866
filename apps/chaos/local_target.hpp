#pragma once
// A scenario in this process, on all cores, in real time.

#include "apps/chaos/outcome.hpp"
#include "core/result.hpp"

namespace troupe::chaos {

// `folder` for checkpoints and logs; it is made.
result<run_outcome> run_in_one_process(const config::Scenario& scenario, const std::string& folder);

}  // namespace troupe::chaos
