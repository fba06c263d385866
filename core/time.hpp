#pragma once
// Time as logic sees it: an argument. An instant counts nanoseconds from an epoch that only the
// clock's owner knows.

#include <chrono>
#include <cstdint>

namespace troupe {

using duration = std::chrono::nanoseconds;
struct instant {
  std::int64_t ns = 0;

  friend bool operator<(instant a, instant b) { return a.ns < b.ns; }
  friend bool operator<=(instant a, instant b) { return a.ns <= b.ns; }
  friend bool operator>=(instant a, instant b) { return a.ns >= b.ns; }
  friend bool operator==(instant a, instant b) { return a.ns == b.ns; }
  friend instant operator+(instant a, duration d) { return {a.ns + d.count()}; }
  friend duration operator-(instant a, instant b) { return duration(a.ns - b.ns); }
};

inline double seconds_of(duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

}  // namespace troupe
