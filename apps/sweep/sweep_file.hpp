#pragma once
// What a sweep file says: one job, run at many points (docs/sweeps.md). Pure: text in, runs out.
//
//   job = "../a9a.toml"
//   seeds = [1, 2, 3]
//   [axes]
//   "training.staleness" = [0, 4, "unbounded"]

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace troupe {

struct sweep_point {
  std::string name;              // "training.staleness=4", or as the file says
  std::vector<std::string> set;  // overrides, as --set takes them
};

struct sweep_settings {
  std::string name;
  std::string job;  // a path, relative to the sweep file's folder unless absolute
  bool in_virtual_time = false;
  std::vector<std::string> set;      // of every run
  std::vector<std::uint64_t> seeds;  // empty: the job's own
  std::vector<sweep_point> points;   // all of them, in the order of the file
  std::string rank_by;               // a path into a run's results; empty: the validation metric
  std::optional<bool> largest_first;
  std::vector<std::string> columns;  // more paths to show
  std::uint32_t parallel = 1;
  std::uint32_t run_limit_seconds = 3600;
};

constexpr std::size_t most_sweep_runs = 10'000;

// Errors are errc::bad_config with file, line and reason, all of them at once.
result<sweep_settings> read_sweep(std::string_view text, const std::string& name);

}  // namespace troupe
