#pragma once
// Begins a life of a role's actor: the same in this process alone and in a process of a cluster.

#include <caf/actor_system.hpp>

#include "actors/server/server_actor.hpp"
#include "apps/local/cluster_settings.hpp"

namespace troupe {

caf::strong_actor_ptr start_role(const cluster_settings& settings, caf::actor_system& system,
                                 const environment& env);

}  // namespace troupe
