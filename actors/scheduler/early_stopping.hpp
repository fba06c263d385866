#pragma once
// Which evaluation during training was the best, and when to stop waiting for a better one.

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

struct early_stopping_settings {
  std::string metric;  // "validation_logloss"
  bool larger_is_better = false;
  std::uint32_t patience = 0;  // evaluations in a row without a better one; 0: no end to it
};

class early_stopping {
 public:
  explicit early_stopping(early_stopping_settings settings) : settings_(std::move(settings)) {}

  // True: the best so far; the first known value is. One that is not known says nothing, and does
  // not count against the patience.
  bool on_evaluation(std::uint64_t clock, std::optional<double> value) {
    if (!value) return false;
    const bool better = !best_ || (settings_.larger_is_better ? *value > *best_ : *value < *best_);
    since_best_ = better ? 0 : since_best_ + 1;
    if (!better) return false;
    best_ = value;
    best_clock_ = clock;
    return true;
  }

  // As it was before the scheduler started again.
  void take_up(std::optional<double> best, std::uint64_t clock, std::uint32_t since_best) {
    best_ = best;
    best_clock_ = clock;
    since_best_ = since_best;
  }
  std::uint32_t since_best() const { return since_best_; }

  bool should_stop() const { return settings_.patience > 0 && since_best_ >= settings_.patience; }
  const early_stopping_settings& settings() const { return settings_; }
  std::optional<double> best() const { return best_; }
  std::uint64_t best_clock() const { return best_clock_; }

 private:
  const early_stopping_settings settings_;
  std::optional<double> best_;
  std::uint64_t best_clock_ = 0;
  std::uint32_t since_best_ = 0;
};

}  // namespace troupe
