#pragma once
// The nodes of a running cluster as a table.

#include <functional>
#include <string>

#include "apps/console/json.hpp"
#include "messages/control.pb.h"
#include "messages/roles.hpp"

namespace troupe::console {

// What the manifest calls a node; empty: it does not know it.
using name_of_node = std::function<std::string(role_id)>;

// A line of headings and one to each node; empty without nodes. Ends in a newline.
std::string node_table(const pb::JobStatus& status, const name_of_node& name);
// The same for a terminal that is drawn anew: no line is longer than `width` (it would wrap), and
// of many nodes as many are shown as `most`.
std::string clipped_table(const std::string& table, std::size_t width, std::size_t most);
// Phase, progress, view and the nodes, as 'troupe status' prints them.
std::string cluster_report(const pb::JobStatus& status, const name_of_node& name);
// The same and more, for programs: docs/results.md.
json cluster_json(const pb::JobStatus& status, const name_of_node& name);

const char* phase_word(pb::JobStatus::Phase phase);
const char* state_word(pb::NodeStatus::State state);

}  // namespace troupe::console
