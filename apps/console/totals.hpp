#pragma once
// A job's figures summed over its slots and tables.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "messages/control.pb.h"

namespace troupe::console {

struct totals {
  std::uint64_t examples = 0;
  std::uint64_t clocks_done = 0, clocks = 0;
  double loss = 0, weight = 0;  // progressive: each example before its own update
  std::uint64_t bytes_pushed = 0, bytes_pulled = 0;
  std::vector<std::uint64_t> staleness;  // pulls answered with staleness 0, 1, 2, ...
  std::uint64_t max_staleness = 0;
  std::uint64_t rejected = 0;            // pushes that a server or a client refused
  std::uint64_t nonzeros = 0, rows = 0;  // over all tables
  double training_seconds = 0;           // 0 while training goes on

  std::optional<double> mean_loss() const;
  std::optional<double> examples_per_second() const;
};

totals totals_of(const pb::JobStatus& status);

// The value of a metric; none when the job did not compute it or it is not defined on its data.
std::optional<double> metric(const pb::JobStatus& status, std::string_view name);

}  // namespace troupe::console
