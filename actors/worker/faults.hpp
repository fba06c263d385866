#pragma once
// Debug switches that make a worker fail or dawdle at a chosen place ([debug] of a job). They are
// kept outside the actor, so that a fault that has struck its number of times does not strike the
// restarted one again.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/time.hpp"

namespace troupe {

enum class fault_place {
  compute,        // before the clock's gradients are pushed
  between_sends,  // after the first server got the clock's push, before the second does
  repeat_push,    // every message of the clock's pushes is sent twice
  not_a_number,   // the clock's first pushed value becomes NaN
};

struct fault {
  std::uint32_t slot = 0;
  std::uint64_t clock = 0;
  fault_place where = fault_place::compute;
  std::uint32_t times = 1;
};

struct slowness {
  std::uint32_t slot = 0;
  duration every_clock{};
};

class fault_switches {
 public:
  fault_switches() = default;
  fault_switches(std::vector<fault> faults, std::vector<slowness> slow)
      : faults_(std::move(faults)), slow_(std::move(slow)) {}

  // True if a fault is due here; it then has struck once more.
  bool strikes(std::uint32_t slot, std::uint64_t clock, fault_place where) {
    {
      std::lock_guard guard(mutex_);
      const auto due = std::find_if(faults_.begin(), faults_.end(), [&](const fault& f) {
        return f.slot == slot && f.clock == clock && f.where == where && f.times > 0;
      });
      if (due == faults_.end()) return false;
      --due->times;
    }
    if (on_strike_) on_strike_({slot, clock, where, 1});
    return true;
  }
  // Told of each that strikes, by the worker it strikes. To be set before any worker runs.
  void tell(std::function<void(const fault&)> on_strike) { on_strike_ = std::move(on_strike); }
  duration delay_of(std::uint32_t slot) const {
    for (const auto& s : slow_)
      if (s.slot == slot) return s.every_clock;
    return {};
  }
  bool none() const { return faults_.empty() && slow_.empty(); }

 private:
  std::mutex mutex_;
  std::vector<fault> faults_;
  const std::vector<slowness> slow_;
  std::function<void(const fault&)> on_strike_;
};

}  // namespace troupe
