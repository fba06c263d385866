#pragma once
// Asks the scheduler where the job stands, again and again, and hands each answer on.

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>

#include "actors/supervision/environment.hpp"

namespace troupe {

struct watcher_settings {
  std::shared_ptr<const resolver> find;
  duration every = std::chrono::milliseconds(100);
  // The scheduler is to keep the answer back until then, or until the job ends: it is then known at
  // once that it did. For where the loss of an answer is noticed at once, which is not so between
  // machines.
  bool awaits_end = false;
  // With no answer for so long the job is reported as failed.
  duration patience = std::chrono::seconds(30);
  bool with_view = false;  // answers with view and nodes, which may be large
  // Called in the actor's turn; the last call has a phase of FINISHED or FAILED.
  std::function<void(const pb::JobStatus&)> on_status;
};

struct watcher_state {
  watcher_settings settings;
  instant asked, heard;
  static constexpr const char* name = "watcher";
};

caf::behavior watcher(caf::stateful_actor<watcher_state>* self, watcher_settings settings);

}  // namespace troupe
