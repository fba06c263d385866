#include "apps/commands/chaos_job.hpp"

#include <unistd.h>

#include <filesystem>

#include "actors/scheduler/checkpoint_store.hpp"
#include "actors/scheduler/no_evaluation.hpp"
#include "apps/chaos/scenario_cluster.hpp"
#include "apps/chaos/strike.hpp"
#include "core/text.hpp"

namespace troupe {

result<prepared_job> prepare_chaos(const config::Job& job, std::shared_ptr<file_system> files,
                                   const run_choices& choices) {
  if (const auto started = configure_log(choices.log ? *choices.log : log_settings_of(job.log()));
      !started)
    return started.failure();
  if (job.model().scenario().empty())
    return error{errc::bad_config, "model.scenario: app = chaos needs the scenario's file"};
  const auto scenario = config::load_scenario(*files, job.model().scenario(), chaos::all_words());
  if (!scenario) return scenario.failure();
  const auto faults = chaos::plan_of(*scenario, chaos::target::on_processes);
  if (!faults) return faults.failure();
  const auto folder = std::filesystem::path(job.model().scenario()).parent_path().string();
  auto seen = chaos::file_ledger(
      *files, format("%s/ledgers/%d-%s", folder.c_str(), static_cast<int>(::getpid()),
                     choices.worker_alone ? "worker" : "scheduler"));
  if (!seen) return seen.failure();
  chaos::cluster_choices c;
  c.stretch = scenario->scenario().stretch();
  c.folder = folder + "/shared";
  c.files = files;
  c.first_life = static_cast<std::uint64_t>(::getpid()) << 32;
  auto what = chaos::make_workload(*scenario);
  if (!what) return what.failure();
  prepared_job p;
  p.reading = std::make_shared<meter>();
  p.cluster = chaos::cluster_of(*scenario, *faults, std::move(*what), *seen, c);
  p.new_scores = [] { return std::make_shared<no_evaluation>(); };
  auto& scheduler = p.cluster.scheduler;
  scheduler.state_folder = choices.state_folder;
  scheduler.configuration = config::to_toml(job);
  p.facts.job = job.job().name();
  p.facts.seed = job.job().seed();
  p.facts.workers = scheduler.job.workers;
  p.facts.servers = scheduler.job.servers;
  p.facts.slots = scheduler.job.plan.slots();
  for (const auto& table : scheduler.job.plan.tables()) p.facts.table_names.push_back(table.name());
  if (scheduler.checkpoints && !choices.worker_alone)
    if (const auto ready = scheduler.checkpoints->prepare(); !ready) return ready.failure();
  return p;
}

}  // namespace troupe
