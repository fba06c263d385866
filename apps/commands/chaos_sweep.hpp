#pragma once
// The runs of 'troupe chaos': scenarios and seeds, what they came to, and what is shown of them.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/chaos/fault_kinds.hpp"

namespace troupe {

struct chaos_options {
  std::vector<std::string> files;
  std::string job;  // random: a job file, as the workload of all draws; empty: built-in ones
  bool random = false;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> seeds;
  chaos::target where = chaos::target::in_virtual_time;
  std::uint32_t jobs = 0;  // 0: as many as there are processors
  std::uint64_t least_coverage = 0;
  std::string json, junit, timeline;  // files; empty: none
  std::string out = "chaos-failures";
  std::string bug;
  bool shrinks = true, keeps_going = false, prints = false;
};

int run_chaos(const chaos_options& options);

}  // namespace troupe
