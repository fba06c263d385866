#include "apps/local/start_role.hpp"

#include <caf/all.hpp>

namespace troupe {

caf::strong_actor_ptr start_role(const cluster_settings& settings, caf::actor_system& system,
                                 const environment& env) {
  switch (env.role.role) {
    case pb::SCHEDULER:
      return caf::actor_cast<caf::strong_actor_ptr>(
          system.spawn(scheduler, env, settings.scheduler));
    case pb::SERVER:
      return caf::actor_cast<caf::strong_actor_ptr>(system.spawn(server, env));
    default:
      return caf::actor_cast<caf::strong_actor_ptr>(system.spawn(worker, env, settings.worker));
  }
}

}  // namespace troupe
