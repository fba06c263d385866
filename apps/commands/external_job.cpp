#include "apps/commands/external_job.hpp"

#include "actors/scheduler/no_evaluation.hpp"
#include "actors/server/plan.hpp"
#include "apps/linear/prepared_linear.hpp"
#include "apps/linear/table_spec.hpp"

namespace troupe {
namespace {

// What only a program of ours could do.
std::optional<error> unfit(const config::Job& job) {
  const auto wrong = [](const std::string& key, const std::string& why) {
    return error{errc::bad_config, key + ": " + why};
  };
  if (job.data().train_size() > 0)
    return wrong("data.train", "an external program reads its own data");
  if (!job.model().initial().empty())
    return wrong("model.initial", "an external program pushes its own initial values");
  if (job.evaluation().every() > 0)
    return wrong("evaluation.every", "an external program measures by itself");
  return std::nullopt;
}

}  // namespace

result<prepared_job> prepare_external(const config::Job& job, std::shared_ptr<file_system> files,
                                      const run_choices& choices) {
  if (const auto started = configure_log(choices.log ? *choices.log : log_settings_of(job.log()));
      !started)
    return started.failure();
  if (choices.worker_alone || (choices.state_folder.empty() && !choices.log))
    return error{
        errc::bad_config,
        "model.app: the workers of an external program are processes of its own, which use "
        "the client library (docs/client.md); 'troupe up' starts the others"};
  if (const auto why = unfit(job)) return *why;
  auto tables = external_tables(job);
  if (!tables) return tables.failure();
  prepared_job p;
  p.reading = std::make_shared<meter>();
  auto& scheduler = p.cluster.scheduler;
  scheduler.job.plan = plan_of_tables(job, *tables);
  if (const auto made = make_tables(scheduler.job.plan); !made)
    return error{errc::bad_config, made.failure().text};
  describe_cluster(job, files, p);
  p.new_scores = [] { return std::make_shared<no_evaluation>(); };
  scheduler.scores = p.new_scores();
  p.facts.job = job.job().name();
  p.facts.seed = job.job().seed();
  p.facts.workers = job.cluster().workers();
  p.facts.servers = job.cluster().servers();
  p.facts.slots = job.cluster().slots();
  p.facts.staleness =
      config::bounded(job) ? std::to_string(job.training().staleness()) : "unbounded";
  for (const auto& table : *tables) p.facts.table_names.push_back(table.name());
  if (const auto ready = add_checkpoints(p, job, "", choices); !ready) return ready.failure();
  if (scheduler.state_folder.empty()) p.cluster.scheduler_restarts.budget = 0;
  return p;
}

}  // namespace troupe
