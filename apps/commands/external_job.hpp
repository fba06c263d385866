#pragma once
// A job whose program is somebody else's (apps/client): tables, slots and time, and neither data
// nor a model of ours.

#include "apps/commands/job_run.hpp"

namespace troupe {

result<prepared_job> prepare_external(const config::Job& job, std::shared_ptr<file_system> files,
                                      const run_choices& choices);

}  // namespace troupe
