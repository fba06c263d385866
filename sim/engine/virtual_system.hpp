#pragma once
// CAF's testing scheduler and a clock of ours behind a small class: an actor system that runs in
// one thread, in a time that stands still until it is moved.
//
// CAF's own test clock keeps timers to itself and fires them at actors directly. This one hands
// every timer to a sink, so that a node that is busy, paused or dead gets its timers as it gets its
// messages.

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/mailbox_element.hpp>
#include <functional>
#include <memory>

#include "core/time.hpp"

namespace troupe::sim {

class timer_sink {
 public:
  virtual ~timer_sink() = default;
  // `what` is due at `receiver` then. A cancellable one is delivered only if fires() says so.
  virtual void on_timer(instant due, caf::strong_actor_ptr receiver, caf::mailbox_element_ptr what,
                        bool cancellable) = 0;
};

class virtual_scheduler;

class virtual_system {
 public:
  explicit virtual_system(timer_sink& timers);  // outlives it
  // Does not wait for actors: end them first.
  ~virtual_system();
  virtual_system(const virtual_system&) = delete;
  virtual_system& operator=(const virtual_system&) = delete;

  caf::actor_system& actors() { return *system_; }
  instant now() const;
  void move_to(instant t);  // not backwards
  // Runs actors until each of them waits.
  void run_ready();
  // From now on asked what time it is for an actor, each time before it runs: its node's clock may
  // be wrong.
  void set_clock_of(std::function<instant(caf::actor_id)> clock_of);
  // Whether a cancellable timer is still wanted; asked once, when it is due.
  bool fires(const caf::strong_actor_ptr& receiver, caf::message_id id);

 private:
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  virtual_scheduler* scheduler_ = nullptr;  // the system's
  std::function<instant(caf::actor_id)> clock_of_;
};

}  // namespace troupe::sim
