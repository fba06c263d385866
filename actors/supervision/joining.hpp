#pragma once
// How a node's actor enters the cluster: it asks the scheduler until it is let in. Used by servers
// and workers alike.

#include <caf/error.hpp>
#include <caf/sec.hpp>

#include "actors/supervision/environment.hpp"
#include "core/log.hpp"
#include "messages/version.hpp"

namespace troupe {

class joining {
 public:
  bool joined() const { return joined_; }

  // Asks once, unless a question is under way; call it at every tick. `on_accepted` gets the plan
  // and, if there is one, the view. A refusal ends the actor.
  template <class Self, class OnAccepted>
  void ask(Self* self, const environment& env, OnAccepted on_accepted) {
    if (joined_ || asking_) return;
    auto scheduler = env.find->scheduler();
    if (!scheduler) return;
    asking_ = true;
    pb::Join join;
    join.set_role(env.role.role);
    join.set_index(env.role.index);
    join.set_incarnation(env.incarnation);
    join.set_protocol(protocol_version);
    join.set_build(build_version());
    self->request(scheduler, env.request_timeout, join_atom::value, join)
        .then(
            [this, self, on_accepted](const pb::JoinReply& reply) {
              asking_ = false;
              if (!reply.accepted()) {
                log("job", log_level::error, reply.text());
                self->quit(caf::make_error(caf::sec::runtime_error, reply.text()));
                return;
              }
              joined_ = true;
              on_accepted(reply);
            },
            [this](const caf::error&) { asking_ = false; });
  }

 private:
  bool joined_ = false;
  bool asking_ = false;
};

}  // namespace troupe
