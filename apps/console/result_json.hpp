#pragma once
// What `--json FILE` writes: one object, described member by member in docs/results.md.

#include <string>
#include <utility>
#include <vector>

#include "apps/console/json.hpp"
#include "apps/console/run_facts.hpp"
#include "messages/control.pb.h"

namespace troupe::console {

// Valid JSON whatever the status holds. A figure that the job did not reach or that its data do not
// define is null: AUC of a single class, the objective of a run that failed.
// `more` members come last.
std::string json_result(const pb::JobStatus& status, const run_facts& facts,
                        const std::vector<std::pair<std::string, json>>& more = {});

}  // namespace troupe::console
