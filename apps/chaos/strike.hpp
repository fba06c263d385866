#pragma once
// A scenario's faults as what is to be done: every random choice made, every repetition written
// out.

#include <optional>
#include <string>
#include <vector>

#include "apps/chaos/fault_kinds.hpp"
#include "core/time.hpp"
#include "messages/keys.hpp"
#include "messages/roles.hpp"

namespace troupe::chaos {

// Whom a fault strikes: nodes by number, or whoever is the primary of a key when it strikes.
struct nodes_meant {
  std::vector<role_id> nodes;
  std::optional<key_id> primary_of;

  bool hold(role_id who) const;
};

struct strike {
  fault_kind kind = fault_kind::kill;
  nodes_meant node, peer;
  std::optional<nodes_meant> passed_by;  // of a strike at a state, if not the struck node itself
  duration at{}, lasts{};                // lasts 0: over at once, or, of a kill, for good
  config::Fault how;                     // all the rest
};

// Who takes part in a scenario from the beginning, and in all (those that join too).
struct cast {
  std::uint32_t servers = 0, workers = 0;
  std::uint32_t servers_in_all = 0, workers_in_all = 0;

  std::vector<role_id> all() const;  // the scheduler, the servers, the workers
  bool joins_later(role_id who) const;
};
cast cast_of(const config::Scenario& scenario);

struct plan {
  std::vector<strike> strikes;  // by time
  duration healed{};            // by then all has ended that strikes at a moment
};

// Errors are errc::bad_config and name the fault: "faults[2].node: ...". `where` decides what is
// possible.
result<plan> plan_of(const config::Scenario& scenario, target where);

// The ways that a partition cuts, one direction each. In halves, a bridge and a ring nodes are
// dealt out by their place: the scheduler and every second node after it are one half.
std::vector<std::pair<role_id, role_id>> cuts_of(const strike& s, const std::vector<role_id>& nodes,
                                                 const cast& who);

std::string describe(const strike& s);

}  // namespace troupe::chaos
