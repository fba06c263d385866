#pragma once
// From a job's [simulate] section to the settings of a simulation.

#include <functional>
#include <string>
#include <vector>

#include "config/job.hpp"
#include "core/result.hpp"
#include "sim/engine/simulation.hpp"

namespace troupe {

class virtual_stage;

struct planned_fault {
  enum class kind { cut, cut_one_way, crash, pause, join, drain, rebalance };
  kind what = kind::cut;
  sim::node_pattern node, peer;
  duration at{}, lasts{};  // lasts 0: for ever
};

// The node crashes where it passes a landmark for the n-th time, in the middle of its turn: what it
// would have sent in that turn is gone.
struct planned_strike {
  std::string landmark;
  sim::node_pattern node;
  std::uint32_t occurrence = 1;
  duration lasts{};  // 0: for ever
};

struct virtual_settings {
  sim::simulation_settings engine;
  std::vector<planned_fault> faults;
  std::vector<planned_strike> strikes;
  duration objective_every{};   // 0: no looks
  double objective_target = 0;  // 0: none
  duration time_limit{};
  // Called before anything begins.
  std::function<void(virtual_stage&)> direct;
  // These begin later, when whoever directs lets them.
  std::vector<sim::node_number> absent;
  // How often the caller's watch is asked, in virtual time, and at least once in so many steps.
  duration watch_every{std::chrono::milliseconds(10)};
};

// Errors name the key: "simulate.links[1].from: ...".
result<virtual_settings> virtual_settings_of(const config::Job& job);

}  // namespace troupe
