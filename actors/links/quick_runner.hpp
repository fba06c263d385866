#pragma once
// Where the node's actor runs when a bulk message has come for it. While its turns are short it
// runs at once, in the thread of the sockets, which saves two changes of threads; when one was
// long it goes to the scheduler's threads again, so that the links beat on. Turns are timed there
// too, so that an actor has shown to be quick before it is run here.

#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "core/time.hpp"

namespace troupe {

class quick_runner final : public caf::execution_unit {
 public:
  using read_clock = std::function<instant()>;
  quick_runner(caf::actor_system* system, read_clock clock)
      : caf::execution_unit(system), clock_(std::move(clock)), pace_(std::make_shared<pace>()) {}

  // In the thread of the sockets.
  void deliver(const caf::strong_actor_ptr& to, caf::mailbox_element_ptr what);
  void exec_later(caf::resumable* job) override;

  // What is known of the length of turns.
  struct pace {
    static constexpr duration long_turn = std::chrono::milliseconds(5);
    static constexpr int short_turns = 32;  // in a row, until it is run here
    std::atomic<int> to_go{short_turns};

    bool quick() const { return to_go.load(std::memory_order_relaxed) == 0; }
    void took(duration turn) {
      if (turn > long_turn)
        to_go.store(short_turns, std::memory_order_relaxed);
      else if (const auto left = to_go.load(std::memory_order_relaxed); left > 0)
        to_go.store(left - 1, std::memory_order_relaxed);
    }
  };

 private:
  class timed_turn;
  void run(caf::resumable* job);

  const read_clock clock_;
  const std::shared_ptr<pace> pace_;
  const caf::resumable* mine_ = nullptr;  // the actor that a message is being given to
  std::vector<caf::resumable*> jobs_;
};

}  // namespace troupe
