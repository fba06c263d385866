#pragma once
// What a cluster of one process is made of, on all cores (apps/local) or in virtual time
// (apps/virtual).

#include <functional>
#include <memory>

#include "actors/scheduler/scheduler_actor.hpp"
#include "actors/supervision/restart_policy.hpp"
#include "actors/worker/worker_actor.hpp"
#include "core/file.hpp"
#include "messages/roles.hpp"

namespace troupe {

// Something that is done to the running cluster at a time after its start.
struct planned_event {
  enum class kind {
    kill,       // the node ends without a word: its supervisor too
    start,      // a node that was killed, or that is new, begins a life
    drain,      // the scheduler is told to take from it what it has
    rebalance,  // the scheduler is told to even out the load
  };
  kind what = kind::kill;
  role_id node;
  duration at{};
};

struct cluster_settings {
  scheduler_setup scheduler;
  worker_setup worker;
  restart_settings restarts;            // of servers and workers; a server comes back empty
  restart_settings scheduler_restarts;  // where its state is written down
  duration beat_every = std::chrono::milliseconds(100);  // 0: nobody's silence is noticed
  std::vector<planned_event> events;
  std::size_t threads = 0;  // 0: one for each core; virtual time has one
  duration request_timeout = std::chrono::seconds(2);
  std::shared_ptr<file_system> files;
  // Called on the caller's thread a few times a second; true asks the job to stop early and to save
  // what it has.
  std::function<bool(const pb::JobStatus&)> watch;
};

}  // namespace troupe
