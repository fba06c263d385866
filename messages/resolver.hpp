#pragma once
// Turns a role into a typed handle: the only way an actor finds another. Local, the handle itself;
// in virtual time and between machines, a proxy whose carrier is the simulated network or a link.
//
// A handle is good for one message or one request: a restarted node has another, so ask again for
// the next.

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>

#include "messages/roles.hpp"
#include "messages/scheduler_interface.hpp"
#include "messages/server_interface.hpp"
#include "messages/worker_interface.hpp"

namespace troupe {

class resolver {
 public:
  virtual ~resolver() = default;

  // Null when no such node is known (yet, or any more).
  virtual caf::strong_actor_ptr find(role_id id) const = 0;

  // Whether what is sent there leaves the machine no more than it must: it is in this process, or
  // on this host. Then bytes are cheap.
  virtual bool near(role_id) const { return false; }

  scheduler_actor scheduler() const { return as<scheduler_actor>(the_scheduler); }
  server_actor server(std::uint32_t index) const { return as<server_actor>(server_role(index)); }
  worker_actor worker(std::uint32_t index) const { return as<worker_actor>(worker_role(index)); }

 private:
  template <class Handle>
  Handle as(role_id id) const {
    auto found = find(id);
    return found ? caf::actor_cast<Handle>(std::move(found)) : Handle{};
  }
};

}  // namespace troupe
