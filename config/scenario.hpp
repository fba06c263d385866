#pragma once
// A chaos scenario as a file: TOML text in, a checked config::Scenario out, with every default
// filled in. The schema is config/scenario.proto. Durations are nanoseconds, sizes bytes.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/scenario.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe::config {

// What a scenario may name beyond its schema: kinds of faults, states of the protocol, filters.
struct scenario_words {
  std::vector<std::string> kinds, states;
  // Why the scenario's chain of filters, of pushes or of pulls, cannot be; empty: it can.
  std::function<std::string(const Scenario&, bool pulls)> misfit_of_filters;
};

// Errors begin "chaos.toml:12:3: "; all faults of a file are told at once.
result<Scenario> load_scenario(file_system& files, const std::string& path,
                               const scenario_words& words);
result<Scenario> parse_scenario(std::string_view text, const std::string& name,
                                const scenario_words& words);
// What differs from the defaults, as a scenario file: parse_scenario(to_toml(s), ...) gives s
// again.
std::string to_toml(const Scenario& scenario);

std::string scenario_reference_markdown();

}  // namespace troupe::config
