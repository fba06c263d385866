#pragma once
// The runs of a sweep, each a process of its own: a run that crashes is a row of the table and not
// the sweep's end. Results lie in a folder, a JSON and a log to a run, under a name that hangs on
// all that the run depends on; a run whose result is there is not run again.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/sweep/sweep_file.hpp"
#include "apps/sweep/sweep_table.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct sweep_run {
  std::size_t point = 0;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> overrides;  // of the job, its seed and "no model" among them
  std::string id;                      // 16 hexadecimal digits
  bool done = false;                   // its result is in the folder already
};

// All runs, in order. Loads the job with each run's overrides, so that what is wrong with any of
// them is said before the first begins.
result<std::vector<sweep_run>> runs_of(file_system& files, const sweep_settings& sweep,
                                       const std::string& job_file, const std::string& folder);

struct sweep_watch {
  // A run has ended, or was done before.
  std::function<void(const sweep_run&, const sweep_outcome&, double seconds)> on_end;
  std::function<bool()> interrupted;
};

// Runs what is not done; returns all outcomes, in order. `program` is the executable. After an
// interruption what was not run is left out.
result<std::vector<sweep_outcome>> carry_out(const std::shared_ptr<file_system>& files,
                                             const sweep_settings& sweep,
                                             const std::string& job_file, const std::string& folder,
                                             const std::string& program,
                                             std::vector<sweep_run> runs, const sweep_watch& watch);

}  // namespace troupe
