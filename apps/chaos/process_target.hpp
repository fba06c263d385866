#pragma once
// A scenario on processes: 'troupe node' to each node, faults by signals, by network namespaces
// with routes and traffic control, by a small file system that is filled, and by limits on open
// files.

#include "apps/chaos/outcome.hpp"
#include "core/result.hpp"

namespace troupe::chaos {

struct process_options {
  std::string program;  // the path of troupe
  std::string folder;   // for all that the cluster writes; must not be there yet
  bool keep_folder = false;
};

result<run_outcome> run_on_processes(const config::Scenario& scenario,
                                     const process_options& options);

}  // namespace troupe::chaos
