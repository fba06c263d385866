#pragma once
// A job between its file and its cluster: what is opened and checked before any actor starts, and
// the run itself.

#include <functional>
#include <memory>

#include "actors/scheduler/evaluation.hpp"
#include "apps/console/run_facts.hpp"
#include "apps/local/local_cluster.hpp"
#include "config/job.hpp"
#include "core/file.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace troupe {

struct prepared_job {
  std::shared_ptr<meter> reading;  // of the data sets, which refer to it
  cluster_settings cluster;
  // An empty evaluation of the job's metrics.
  std::function<std::shared_ptr<evaluation>()> new_scores;
  console::run_facts facts;
};

struct run_choices {
  bool resume = false;  // from the latest checkpoint
};

// Opens the data (building its cache where there is none), makes the plan, and checks that its
// tables can be made.
result<prepared_job> prepare_job(const config::Job& job, std::shared_ptr<file_system> files,
                                 const run_choices& choices = {});

// Runs it in this process; fills in what the facts say of its end. `watch` is called a few times a
// second and ends training early when it returns true.
pb::JobStatus run_job(prepared_job& job,
                      const std::function<bool(const pb::JobStatus&, instant)>& watch);

// What the facts say of a run's end, once it has taken so long.
void note_end(prepared_job& job, const pb::JobStatus& status, double wall_seconds);
// Real time, for progress and the facts.
instant wall_clock();

}  // namespace troupe
