#pragma once
// Ratios that hold on a noisy machine: the two sides run in turn, a ratio is taken for each turn,
// and the median of the ratios is what counts.

#include <algorithm>
#include <chrono>
#include <vector>

namespace troupe::bench {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
double seconds_of(Work&& work) {
  const auto begun = seconds_now();
  work();
  return seconds_now() - begun;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr int turns = 7;

}  // namespace troupe::bench
