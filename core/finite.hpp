#pragma once
// Whether all values are numbers: no infinity, no NaN. One pass without a branch, so that it runs
// at memory speed.

#include <cstdint>
#include <cstring>

#include "core/span.hpp"

namespace troupe {

namespace detail {

// x - x is zero for a finite x, else NaN; sums of zeros stay zero.
template <class T>
bool all_finite(span<const T> values) {
  T lanes[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8)
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += values[i + lane] - values[i + lane];
  T sum = 0;
  for (; i < values.size(); ++i) sum += values[i] - values[i];
  for (const T lane : lanes) sum += lane;
  return sum == 0;
}

}  // namespace detail

inline bool all_finite(span<const float> values) {
  return detail::all_finite(values);
}
inline bool all_finite(span<const double> values) {
  return detail::all_finite(values);
}

}  // namespace troupe
