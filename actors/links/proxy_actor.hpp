#pragma once
// The handle of an actor on another node. What is sent to it, requests, replies and exits alike, is
// given to a carrier, which brings it there: the simulated network in virtual time, a link between
// machines. Typed requests, response promises and monitors work through it unchanged.
//
// A proxy whose way is gone is dead, as an actor is that has ended: monitors hear of it, and
// requests are answered with an error at once.

#include <atomic>
#include <caf/actor_config.hpp>
#include <caf/actor_proxy.hpp>
#include <caf/mailbox_element.hpp>
#include <memory>

namespace troupe {

// One way from a node to an actor on another.
class carrier {
 public:
  virtual ~carrier() = default;
  // In the sender's turn, on its thread. Messages of one sender to one actor are given in the order
  // of sending.
  virtual void carry(caf::mailbox_element_ptr what, caf::execution_unit* context) = 0;
};

class proxy_actor final : public caf::actor_proxy {
 public:
  proxy_actor(caf::actor_config& config, std::shared_ptr<carrier> by)
      : actor_proxy(config), by_(std::move(by)) {}

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void kill_proxy(caf::execution_unit* context, caf::error reason) override;
  const char* name() const override { return "proxy"; }

 private:
  const std::shared_ptr<carrier> by_;
  std::atomic<bool> dead_{false};
};

}  // namespace troupe
