#pragma once
// What a run ends with on the screen: an aligned table of what was run, what came of it and what it
// cost.

#include <string>

#include "apps/console/run_facts.hpp"
#include "messages/control.pb.h"

namespace troupe::console {

// Ends in a newline. Lines that say nothing (no restarts, no rejected updates) are left out.
std::string summary_table(const pb::JobStatus& status, const run_facts& facts);

}  // namespace troupe::console
