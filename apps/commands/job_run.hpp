#pragma once
// A job between its file and its cluster: what is opened and checked before any actor starts, and
// the run itself.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/scheduler/evaluation.hpp"
#include "apps/console/run_facts.hpp"
#include "apps/local/local_cluster.hpp"
#include "config/job.hpp"
#include "core/file.hpp"
#include "core/log.hpp"
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
  // Of a worker's process: it reads data and learns, and writes nothing.
  bool worker_alone = false;
  // Where the scheduler writes down its state, if not beside the checkpoints.
  std::string state_folder;
  // The job has begun in an earlier process: what that left is kept.
  bool goes_on = false;
  std::optional<log_settings> log;  // in place of the job's
};

// The parts of a preparation that do not depend on what is learned.
void describe_cluster(const config::Job& job, std::shared_ptr<file_system> files,
                      prepared_job& into);
// `model`: JSON of what a model made of a checkpoint would say of itself; empty: none can be made.
result<void> add_checkpoints(prepared_job& into, const config::Job& job, const std::string& model,
                             const run_choices& choices);

log_settings log_settings_of(const config::Log& log);

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
