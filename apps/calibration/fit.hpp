#pragma once
// The prices of work, from turns that were timed: least squares with no price below zero
// (Lawson, Hanson: Solving Least Squares Problems, chapter 23; here by coordinate descent on the
// normal equations, which for ten unknowns is simple and enough).
//
// Turns that did the same are put together and stand for their median, so that a page fault or
// another process does not count; errors count relative to a turn's time, so that short turns
// matter as much as long ones.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/cost/cost_model.hpp"

namespace troupe {

class turn_timings {
 public:
  void add(const sim::turn_facts& turn, double nanoseconds);
  std::size_t turns() const { return turns_; }

  struct fit {
    sim::prices price;
    double total_error = 0;   // of the time of all turns together: predicted / measured - 1
    double median_error = 0;  // of a kind of turn: |predicted / measured - 1|
    std::size_t kinds = 0;    // of turns that were told apart
  };
  fit fitted() const;

 private:
  static constexpr std::size_t unknowns = kinds_of_work + 2;  // and messages sent, received
  using row = std::array<std::uint64_t, unknowns>;

  std::map<row, std::vector<double>> by_kind_;
  std::size_t turns_ = 0;
};

}  // namespace troupe
