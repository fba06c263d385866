#include "apps/chaos/scenario_cluster.hpp"

#include "actors/scheduler/checkpoint_store.hpp"

namespace troupe::chaos {
namespace {

std::shared_ptr<fault_switches> switches_of(const config::Scenario& s, const plan& faults,
                                            double stretch) {
  std::vector<fault> at_clocks;
  for (const auto& one : faults.strikes) {
    // A push that is no number is none whoever makes it; what throws does so once.
    if (one.kind == fault_kind::not_a_number)
      at_clocks.push_back({one.how.slot(), one.how.clock(), fault_place::not_a_number, ~0u});
    if (one.kind == fault_kind::throws)
      at_clocks.push_back({one.how.slot(), one.how.clock(), fault_place::compute, 1});
  }
  std::vector<slowness> slow;
  const auto each =
      duration(static_cast<std::int64_t>(static_cast<double>(s.workload().clock_time()) * stretch));
  if (each > duration::zero())
    for (std::uint32_t slot = 0; slot < s.cluster().slots(); ++slot) slow.push_back({slot, each});
  return std::make_shared<fault_switches>(std::move(at_clocks), std::move(slow));
}

pb::Timings timings_of(const config::Scenario& s, double stretch) {
  const auto death = static_cast<double>(s.cluster().death_after()) * stretch;
  const auto part = [death](double of) { return static_cast<std::int64_t>(death * of); };
  pb::Timings t;
  t.set_beat_every(part(1.0 / 6));
  t.set_suspect_after(part(0.5));
  t.set_death_after(part(1));
  t.set_lease(part(0.5));
  t.set_report_every(part(1.0 / 6));
  t.set_request_timeout(part(4.0 / 3));
  t.set_hold(part(3));
  // A job that has healed ends before anybody loses patience: else a fault that is longer than it
  // would fail the job, and rightly.
  t.set_patience(part(100) +
                 static_cast<std::int64_t>(static_cast<double>(s.scenario().deadline()) * stretch));
  t.set_backoff(part(0.1));
  t.set_backoff_limit(part(2));
  t.set_pull_retries(100'000);
  t.set_window(4);
  t.set_transfer_chunk(200);
  return t;
}

}  // namespace

cluster_settings cluster_of(const config::Scenario& s, const plan& faults,
                            std::shared_ptr<const workload> what, std::shared_ptr<ledger> seen,
                            const cluster_choices& choices) {
  register_functions();
  cluster_settings c;
  auto parts = what->parts(s, std::move(seen), choices.first_life);
  c.scheduler.job = std::move(parts.job);
  c.scheduler.scores = std::move(parts.scores);
  c.worker.app = std::move(parts.app);
  auto& job = c.scheduler.job;
  job.plan.set_name("chaos");
  job.plan.set_seed(s.scenario().seed());
  job.plan.set_slots(s.cluster().slots());
  // Also between nodes of one machine: else nothing were tried there.
  job.plan.set_filters_everywhere(true);
  *job.plan.mutable_timings() = timings_of(s, choices.stretch);
  job.servers = static_cast<std::uint32_t>(static_cast<std::int32_t>(s.cluster().servers()) +
                                           choices.more_servers);
  job.workers = s.cluster().workers();
  job.copies = s.cluster().copies();
  job.virtual_nodes = 8;
  job.join_patience = duration(job.plan.timings().patience());
  if (!choices.folder.empty()) {
    job.checkpoint_every = s.cluster().checkpoint_every();
    job.checkpoint_folder = c.scheduler.state_folder = choices.folder;
    job.resume = choices.resume;
    job.model_folder = choices.folder + "/model";
    (void)choices.files->create_folders(job.model_folder).ok();
    c.scheduler.publish = [](const publish_model&) { return result<void>(); };
    if (job.checkpoint_every > 0)
      c.scheduler.checkpoints = std::make_shared<checkpoint_store>(choices.files, choices.folder);
  }
  c.worker.faults = switches_of(s, faults, choices.stretch);
  const auto part = [&](double of) {
    return duration(
        static_cast<std::int64_t>(static_cast<double>(job.plan.timings().death_after()) * of));
  };
  // No number of restarts is too many for a test of restarts.
  c.restarts = {100'000, std::chrono::minutes(1), part(1.0 / 30), part(1.0 / 3)};
  c.scheduler_restarts = c.restarts;
  if (choices.folder.empty()) c.scheduler_restarts.budget = 0;
  c.beat_every = duration(job.plan.timings().beat_every());
  c.request_timeout = part(6);
  c.files = choices.files;
  return c;
}

}  // namespace troupe::chaos
