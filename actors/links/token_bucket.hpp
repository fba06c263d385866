#pragma once
// A limit of bytes a second, with bursts of a fifth of a second.

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"

namespace troupe {

class token_bucket {
 public:
  token_bucket() = default;  // without limit
  token_bucket(std::uint64_t bytes_a_second, instant now)
      : rate_(static_cast<double>(bytes_a_second)), tokens_(burst()), at_(now) {}

  bool limited() const { return rate_ > 0; }
  // What is taken may exceed what is there: the next has to wait until the debt is paid.
  bool may_take(instant now) {
    if (!limited()) return true;
    tokens_ = std::min(burst(), tokens_ + seconds_of(now - at_) * rate_);
    at_ = now;
    return tokens_ > 0;
  }
  void take(std::size_t bytes) { tokens_ -= static_cast<double>(bytes); }
  // When there is something to take again.
  instant next() const {
    if (!limited() || tokens_ > 0) return at_;
    return at_ + duration(static_cast<std::int64_t>(1e9 * (1 - tokens_) / rate_));
  }

 private:
  double burst() const { return rate_ / 5; }
  double rate_ = 0;
  double tokens_ = 0;
  instant at_;
};

}  // namespace troupe
