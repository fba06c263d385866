#pragma once
// From a job's configuration to what its block solver needs. Pure but for plan_blocks().

#include "actors/scheduler/coordinator.hpp"
#include "apps/linear/blocks/block_plan.hpp"
#include "apps/linear/blocks/block_program.hpp"
#include "apps/linear/linear_job.hpp"
#include "config/job.hpp"
#include "core/result.hpp"

namespace troupe {

inline bool solves_by_blocks(const config::Job& job) {
  return job.solver().name() == "blocks";
}

// The job with the tables' function that the solver's step is. Errors name what does not go with
// it.
result<config::Job> with_block_steps(const config::Job& job);

block_plan_settings block_plan_settings_of(const config::Job& job);

// An error if the delay is too long for so few blocks.
result<block_training> block_training_of(const config::Job& job, const linear_job& made,
                                         const block_plan& plan);

// When the model is measured, and by what penalties it goes. `measured` are data sets beside the
// training rows that are scored on the way.
void set_course(const config::Job& job, const linear_job& made, const block_training& training,
                job_settings& settings);
// Whether held-out rows are of use before the end.
bool measures_held_out(const config::Job& job);

}  // namespace troupe
