#pragma once
// Pushed values brought within a function's bounds (function_spec::clip), row
// by row.

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace troupe {

template <class T>
void clip_by_value(const T* pushed, std::size_t count, double at, T* out) {
  const T limit = static_cast<T>(at);
  for (std::size_t i = 0; i < count; ++i) out[i] = std::min(std::max(pushed[i], -limit), limit);
}

// Shortens one row to the Euclidean length `at`. Squares are taken of parts of
// the largest value, so that none of them overflows.
template <class T>
void clip_by_norm(const T* row, std::size_t width, double at, T* out) {
  double largest = 0;
  for (std::size_t i = 0; i < width; ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(row[i])));
  double squares = 0;
  for (std::size_t i = 0; i < width && largest > 0; ++i) {
    const double part = static_cast<double>(row[i]) / largest;
    squares += part * part;
  }
  const double length = std::sqrt(squares);  // in units of the largest
  const bool fits = largest * length <= at;
  for (std::size_t i = 0; i < width; ++i)
    out[i] = fits ? row[i] : static_cast<T>(static_cast<double>(row[i]) / largest * (at / length));
}

}  // namespace troupe
