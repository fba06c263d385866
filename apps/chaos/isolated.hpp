#pragma once
// Runs in virtual time, several at once, each in a process of its own: one that crashes, or never
// ends, is a finding like any other and takes nobody with it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/chaos/outcome.hpp"

namespace troupe::chaos {

// What is known of a run that was made elsewhere.
struct brief_outcome {
  std::uint64_t number = 0;  // of the run, as asked for
  std::optional<violation> first;
  std::size_t faults = 0, withheld = 0;
  duration took{};
  std::uint64_t pushes = 0;
  coverage covered;
  std::string digest;

  bool ok() const { return !first; }
};

struct isolated_runs {
  std::uint64_t first = 0, last = 0;  // numbers, both included
  // Runs in a child process.
  std::function<result<run_outcome>(std::uint64_t number)> run;
  std::uint32_t at_once = 1;
  duration patience = std::chrono::minutes(2);  // of real time, for one run
  // Called here, in no order. False: no more are begun.
  std::function<bool(const brief_outcome&)> on_end;
};

void run_isolated(const isolated_runs& runs);
brief_outcome run_isolated(const std::function<result<run_outcome>()>& run);

}  // namespace troupe::chaos
