#pragma once
// What `--json FILE` writes: one object, described member by member in docs/results.md.

#include <string>

#include "apps/console/run_facts.hpp"
#include "messages/control.pb.h"

namespace troupe::console {

// Valid JSON whatever the status holds. A figure that the job did not reach or that its data do not
// define is null: AUC of a single class, the objective of a run that failed.
std::string json_result(const pb::JobStatus& status, const run_facts& facts);

}  // namespace troupe::console
