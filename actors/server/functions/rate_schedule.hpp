#pragma once
// How a learning rate changes with the clock: a pure function of the clock, never of how many steps
// one shard made, so that it does not depend on sharding.

#include <cstdint>
#include <string_view>

#include "core/result.hpp"

namespace troupe {

enum class decay_kind {
  constant,      // rate
  inverse_sqrt,  // rate / sqrt(1 + clock / decay)
  inverse,       // rate / (1 + clock / decay)
  exponential,   // rate * gamma ^ (clock / decay)
  step,          // rate * gamma ^ floor(clock / decay)
};

struct rate_schedule {
  double rate = 0.1;
  decay_kind kind = decay_kind::constant;
  double decay = 1000;       // clocks of one unit of decay
  double gamma = 0.5;        // exponential, step: what one unit leaves of the rate
  std::uint64_t warmup = 0;  // clock c < warmup has (c + 1) / (warmup + 1) of its rate
};

double rate_at(const rate_schedule& schedule, std::uint64_t clock);

// "inverse_sqrt" and so on; the error names the nearest known word.
result<decay_kind> decay_kind_of(std::string_view word);
// Errors name the number that does not fit.
result<void> check(const rate_schedule& schedule);

}  // namespace troupe
