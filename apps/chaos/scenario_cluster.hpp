#pragma once
// A scenario's cluster as the settings of one, in this process.

#include <memory>

#include "apps/chaos/strike.hpp"
#include "apps/chaos/workload/workload.hpp"
#include "apps/local/cluster_settings.hpp"

namespace troupe::chaos {

struct cluster_choices {
  double stretch = 1;                  // of all times
  std::string folder;                  // of checkpoints and logs; empty: there are none
  std::shared_ptr<file_system> files;  // that it is on
  bool resume = false;                 // from the latest checkpoint
  std::int32_t more_servers = 0;
  std::uint64_t first_life = 0;  // of slots, in this process
};

cluster_settings cluster_of(const config::Scenario& scenario, const plan& faults,
                            std::shared_ptr<const workload> what, std::shared_ptr<ledger> seen,
                            const cluster_choices& choices);

}  // namespace troupe::chaos
