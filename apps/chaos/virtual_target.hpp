#pragma once
// A scenario in virtual time: a pure function of the scenario and its seed.

#include "apps/chaos/outcome.hpp"
#include "core/result.hpp"

namespace troupe::chaos {

struct virtual_options {
  bool stop_at_first = true;  // a violation ends the run
};

// An error is of the scenario: a fault that is not possible, a job file that cannot be read.
result<run_outcome> run_in_virtual_time(const config::Scenario& scenario,
                                        const virtual_options& options);

// What the check of the scenario's workload sees in a run without faults.
result<std::shared_ptr<const history_check>> calm_check(const config::Scenario& scenario);

}  // namespace troupe::chaos
