#pragma once
// The stage "local": a scheduler, servers and workers as supervised actors of one process, on all
// cores.

#include <functional>
#include <memory>

#include "actors/scheduler/scheduler_actor.hpp"
#include "actors/supervision/restart_policy.hpp"
#include "actors/worker/worker_actor.hpp"
#include "core/file.hpp"
#include "core/meter.hpp"

namespace troupe {

struct local_cluster_settings {
  scheduler_setup scheduler;
  worker_setup worker;
  restart_settings
      restarts;  // of workers; a server is never restarted, since it would come back empty
  std::size_t threads = 0;  // 0: one for each core
  duration request_timeout = std::chrono::seconds(2);
  std::shared_ptr<file_system> files;
  // Called on the caller's thread a few times a second; true asks the job to stop early and to save
  // what it has.
  std::function<bool(const pb::JobStatus&)> watch;
};

// Runs the job to its end and takes the cluster down. Returns the last status: FINISHED or FAILED.
pb::JobStatus run_local_cluster(const local_cluster_settings& settings);

}  // namespace troupe
