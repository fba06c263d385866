#pragma once
// What a cluster of one process is made of, on all cores (apps/local) or in virtual time
// (apps/virtual).

#include <functional>
#include <memory>

#include "actors/scheduler/scheduler_actor.hpp"
#include "actors/supervision/restart_policy.hpp"
#include "actors/worker/worker_actor.hpp"
#include "core/file.hpp"

namespace troupe {

struct cluster_settings {
  scheduler_setup scheduler;
  worker_setup worker;
  restart_settings
      restarts;  // of workers; a server is never restarted, since it would come back empty
  std::size_t threads = 0;  // 0: one for each core; virtual time has one
  duration request_timeout = std::chrono::seconds(2);
  std::shared_ptr<file_system> files;
  // Called on the caller's thread a few times a second; true asks the job to stop early and to save
  // what it has.
  std::function<bool(const pb::JobStatus&)> watch;
};

}  // namespace troupe
