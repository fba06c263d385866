#include "apps/calibration/fit.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

constexpr int rounds = 20'000;
constexpr double shortest = 200;  // ns: below it a clock's own cost is what is measured

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void turn_timings::add(const sim::turn_facts& turn, double nanoseconds) {
  row r{};
  std::copy(turn.work.begin(), turn.work.end(), r.begin());
  r[kinds_of_work] = turn.sent;
  r[kinds_of_work + 1] = turn.received;
  if (r == row{}) return;  // it did nothing that has a price
  by_kind_[r].push_back(nanoseconds);
  ++turns_;
}

turn_timings::fit turn_timings::fitted() const {
  struct sample {
    const row* facts;
    double median, weight, count;
  };
  std::vector<sample> samples;
  for (const auto& [facts, times] : by_kind_) {
    const auto median = std::max(shortest, median_of(times));
    const auto count = static_cast<double>(times.size());
    samples.push_back({&facts, median, std::sqrt(count) / (median * median), count});
  }
  std::array<std::array<double, unknowns>, unknowns> a{};
  std::array<double, unknowns> b{}, x{};
  for (const auto& s : samples)
    for (std::size_t i = 0; i < unknowns; ++i) {
      const auto xi = static_cast<double>((*s.facts)[i]);
      b[i] += s.weight * xi * s.median;
      for (std::size_t j = 0; j < unknowns; ++j)
        a[i][j] += s.weight * xi * static_cast<double>((*s.facts)[j]);
    }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (a[i][i] <= 0) continue;  // no turn did any of it
      double slope = b[i];
      for (std::size_t j = 0; j < unknowns; ++j) slope -= a[i][j] * x[j];
      x[i] = std::max(0.0, x[i] + slope / a[i][i]);
    }

  fit f;
  f.kinds = samples.size();
  std::copy(x.begin(), x.begin() + kinds_of_work, f.price.of_work.begin());
  f.price.message_sent = x[kinds_of_work];
  f.price.message_received = x[kinds_of_work + 1];
  double predicted = 0, measured = 0;
  std::vector<double> errors;
  for (const auto& s : samples) {
    double p = 0;
    for (std::size_t i = 0; i < unknowns; ++i) p += x[i] * static_cast<double>((*s.facts)[i]);
    predicted += s.count * p;
    measured += s.count * s.median;
    errors.push_back(std::abs(p / s.median - 1));
  }
  if (!errors.empty()) {
    f.total_error = predicted / measured - 1;
    f.median_error = median_of(errors);
  }
  return f;
}

}  // namespace troupe
