#pragma once
// A job whose program is the workload of a chaos scenario, in a process of its own: what its slots
// see goes into a ledger beside the scenario.

#include "apps/commands/job_run.hpp"

namespace troupe {

result<prepared_job> prepare_chaos(const config::Job& job, std::shared_ptr<file_system> files,
                                   const run_choices& choices);

}  // namespace troupe
