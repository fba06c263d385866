#pragma once
// A process's own asker: it wants to know from the scheduler, again and again, where the job
// stands, and brings it the commands of whoever runs the process.

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>

#include "actors/supervision/environment.hpp"

namespace troupe {

struct node_watcher_settings {
  std::shared_ptr<const resolver> find;
  pb::StatusQuery query;  // sent every time
  duration every = std::chrono::milliseconds(200);
  duration answer_within = std::chrono::seconds(2);
  // Called in the actor's turn.
  std::function<void(const pb::JobStatus&)> on_status;
  std::function<void()> on_heard;  // its node answered, and the scheduler is not ready yet
  std::function<void(const pb::JobText&)> on_job;  // may be empty: the job is not asked for
  std::function<void(const pb::CommandReply&)> on_command;
};

struct node_watcher_state {
  node_watcher_settings settings;
  bool knows_job = false;
  static constexpr const char* name = "node watcher";
};

using ask_again_atom = caf::atom_constant<caf::atom("askagain")>;

caf::behavior node_watcher(caf::stateful_actor<node_watcher_state>* self,
                           node_watcher_settings settings);

}  // namespace troupe
