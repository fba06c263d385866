#pragma once
// The stage "virtual": the same supervised actors as in the local stage, on a simulated network and
// in a time of their own, in the calling thread.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/scheduler/evaluation.hpp"
#include "apps/local/cluster_settings.hpp"
#include "apps/virtual/virtual_settings.hpp"
#include "sim/record/run_record.hpp"

namespace troupe {

struct virtual_run {
  pb::JobStatus status;  // FINISHED or FAILED
  sim::run_record record;
  std::map<std::string, std::uint64_t> landmarks;  // how often each was passed
  std::size_t events_left = 0, handles_left = 0;   // of the simulation, at the end
  bool target_reached = false;  // objective_target, by the last look of the record
};

// Asked now and then, in virtual time and in real: where the job stands, and the virtual time. True
// asks it to end early and to save what it has.
using virtual_watch = std::function<bool(const pb::JobStatus&, instant)>;

// Runs the job to its end. `new_scores` makes an empty evaluation of the job's metrics, for the
// looks at its objective; may be empty where there are none. The cluster's own watch is not used.
virtual_run run_virtual_cluster(const cluster_settings& cluster, const virtual_settings& settings,
                                const std::function<std::shared_ptr<evaluation>()>& new_scores,
                                const virtual_watch& watch = {});

}  // namespace troupe
