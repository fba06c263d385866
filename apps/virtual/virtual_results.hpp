#pragma once
// What a virtual run shows beside what a local one does: lines of the summary, and the members
// "virtual" and on of its JSON.

#include <string>
#include <utility>
#include <vector>

#include "apps/console/json.hpp"
#include "sim/record/run_record.hpp"

namespace troupe {

// Mean shares of the workers' time, from the first of them joining to the run's end.
sim::activity_times times_of_all(const sim::run_record& run, const std::string& role);

struct virtual_facts {
  double wall_seconds = 0;  // real time; shown on the screen only, so that files are repeatable
  double objective_target = 0;
  bool target_reached = false;
};

// Ends in a newline.
std::string virtual_summary(const sim::run_record& run, const virtual_facts& facts);

// The one member "virtual", described in docs/results.md. By links, those of most bytes, at most
// `most_links`.
std::vector<std::pair<std::string, console::json>> virtual_json(const sim::run_record& run,
                                                                const virtual_facts& facts,
                                                                std::size_t most_links = 1000);

}  // namespace troupe
