#pragma once
// The root supervisor of a node: it starts the node's actor, watches it, starts it again as a new
// incarnation when it dies, and reports every death to the scheduler. When the restart budget is
// spent it says so, and starts it no more.

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "actors/supervision/environment.hpp"
#include "actors/supervision/restart_policy.hpp"

namespace troupe {

// Starts one life of the node's actor; the environment names its incarnation.
using start_child = std::function<caf::strong_actor_ptr(caf::actor_system&, const environment&)>;
// Makes a life findable under its role, or (null) no longer.
using publish_child = std::function<void(role_id, caf::strong_actor_ptr)>;

struct node_spec {
  environment env;  // its incarnation is that of the first life
  restart_settings restarts;
  start_child start;
  publish_child publish;
  // The budget is spent: nothing will be started again. May be empty.
  std::function<void(const std::string& reason)> on_given_up;
  // The node says so often that it lives, also while its actor is busy; 0: it does not.
  duration beat_every{};
};

struct node_state {
  caf::event_based_actor* self = nullptr;
  node_spec spec;
  std::unique_ptr<restart_policy> policy;
  caf::strong_actor_ptr child;
  std::uint64_t incarnation = 0;

  static constexpr const char* name = "node";
  void start();
  void beat();
  void on_death(const caf::down_msg& down);
  void end(const caf::exit_msg& why);
};

caf::behavior node(caf::stateful_actor<node_state>* self, node_spec spec);

}  // namespace troupe
