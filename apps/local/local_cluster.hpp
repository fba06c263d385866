#pragma once
// The stage "local": a scheduler, servers and workers as supervised actors of one process, on all
// cores.

#include "apps/local/cluster_settings.hpp"

namespace troupe {

// Runs the job to its end and takes the cluster down. Returns the last status: FINISHED or FAILED.
pb::JobStatus run_local_cluster(const cluster_settings& settings);

}  // namespace troupe
