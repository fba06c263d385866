#pragma once
// When to start a child again: after a backoff that doubles with every recent death, at most
// `budget` times within a window. An older death is forgotten when it leaves the window.

#include <cstdint>
#include <deque>
#include <optional>

#include "core/time.hpp"

namespace troupe {

struct restart_settings {
  std::uint32_t budget = 3;  // restarts within the window; 0: never
  duration window = std::chrono::minutes(1);
  duration backoff = std::chrono::milliseconds(50);
  duration backoff_limit = std::chrono::seconds(5);
};

class restart_policy {
 public:
  explicit restart_policy(restart_settings settings) : settings_(settings) {}

  // The child died: how long to wait before it is started again; nothing when the budget is spent.
  std::optional<duration> on_death(instant now);
  std::uint32_t restarts() const { return restarts_; }

 private:
  restart_settings settings_;
  std::deque<instant> recent_;
  std::uint32_t restarts_ = 0;
};

}  // namespace troupe
