#include "apps/commands/job_run.hpp"

#include <algorithm>
#include <chrono>

#include "apps/commands/chaos_job.hpp"
#include "apps/commands/external_job.hpp"
#include "apps/commands/history_file.hpp"
#include "apps/linear/blocks/block_job.hpp"
#include "apps/linear/prepared_linear.hpp"
#include "apps/linear/saved_linear.hpp"
#include "apps/model/dictionary.hpp"
#include "apps/model/manifest.hpp"
#include "apps/model/model_digest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "messages/filters/chain.hpp"

namespace troupe {
namespace {

log_level level_of(const std::string& word) {
  static const std::map<std::string, log_level> levels{
      {"trace", log_level::trace},     {"debug", log_level::debug}, {"info", log_level::info},
      {"warning", log_level::warning}, {"error", log_level::error}, {"off", log_level::off}};
  return levels.at(word);  // the schema allows no other
}

std::shared_ptr<fault_switches> faults_of(const config::Debug& debug) {
  std::vector<fault> faults;
  for (const auto& t : debug.throws())
    faults.push_back({t.slot(), t.clock(),
                      t.where() == "compute" ? fault_place::compute : fault_place::between_sends,
                      t.times()});
  for (const auto& p : debug.repeat_push())
    faults.push_back({p.slot(), p.clock(), fault_place::repeat_push, ~0u});  // every message of it
  for (const auto& p : debug.nan_push())
    faults.push_back({p.slot(), p.clock(), fault_place::not_a_number, 1});
  std::vector<slowness> slow;
  for (const auto& s : debug.slow()) slow.push_back({s.slot(), duration(s.delay())});
  return std::make_shared<fault_switches>(std::move(faults), std::move(slow));
}

std::vector<planned_event> events_of(const config::Debug& debug) {
  std::vector<planned_event> events;
  for (const auto& k : debug.kills()) {
    const auto node = k.role() == "server"   ? server_role(k.index())
                      : k.role() == "worker" ? worker_role(k.index())
                                             : the_scheduler;
    events.push_back({planned_event::kind::kill, node, duration(k.at())});
    if (k.again_after() > 0)
      events.push_back({planned_event::kind::start, node, duration(k.at() + k.again_after())});
  }
  std::sort(events.begin(), events.end(),
            [](const planned_event& a, const planned_event& b) { return a.at < b.at; });
  return events;
}

console::run_facts facts_of(const prepared_linear& learning, const pb::JobPlan& plan) {
  const auto& job = learning.job;
  const auto* test = learning.find("test");
  const auto* validation = learning.find("validation");
  console::run_facts f;
  f.job = job.job().name();
  f.seed = job.job().seed();
  f.workers = job.cluster().workers();
  f.servers = job.cluster().servers();
  f.slots = job.cluster().slots();
  f.epochs = job.training().epochs();
  f.minibatch = solves_by_blocks(job) ? 0 : job.training().minibatch();
  f.staleness = config::bounded(job) ? std::to_string(job.training().staleness()) : "unbounded";
  f.train_rows = learning.train().rows();
  f.test_rows = test != nullptr ? test->rows() : 0;
  f.validation_rows = validation != nullptr ? validation->rows() : 0;
  f.dropped_negatives = learning.train().dropped_negatives();
  f.keeps_best = job.evaluation().keep_best();
  for (const auto& table : plan.tables()) {
    f.table_names.push_back(table.name());
    f.push_steps.push_back(count_names(table, direction::push));
    f.pull_steps.push_back(count_names(table, direction::pull));
  }
  return f;
}

// Where the model goes: what stands in its way is found out before anything is computed.
result<void> save_into(prepared_job& p, const config::Job& job, const linear_job& linear,
                       const dataset& train, const std::shared_ptr<file_system>& files,
                       bool goes_on) {
  auto history = job.evaluation().history();
  if (history.empty() && !job.model().output().empty())
    history = model_folder(job.model().output()).partial() + "/" + history_name;
  if (!history.empty())
    p.cluster.scheduler.record = [lines = std::make_shared<history_file>(files, history, goes_on)](
                                     const pb::EvaluationRecord& r) { return lines->add(r); };
  if (job.model().output().empty()) return {};
  const model_folder folder(job.model().output());
  if (const auto ready = goes_on ? files->create_folders(folder.partial()) : folder.prepare(*files);
      !ready)
    return ready.failure();
  p.cluster.scheduler.job.model_folder = folder.partial();
  if (job.evaluation().keep_best()) {
    if (const auto made = files->create_folders(folder.best()); !made) return made.failure();
    p.cluster.scheduler.job.best_folder = folder.best();
  }
  const auto names = job.data().dictionary().empty() ? train.names_path() : job.data().dictionary();
  // Now, and not when all is learned.
  if (!names.empty()) {
    const auto known = files->facts(names);
    if (!known) return error{errc::bad_config, "data.dictionary: " + known.failure().text};
    if (known->size > dictionary::most_bytes)
      return error{errc::bad_config,
                   format("data.dictionary: %s is larger than the %llu bytes that are read",
                          names.c_str(), static_cast<unsigned long long>(dictionary::most_bytes))};
  }
  p.cluster.scheduler.publish =
      [folder, files, names, description = describe_model(job, linear)](const publish_model& m) {
        auto described = description;
        described.set_clocks(m.clocks);
        return folder.publish(*files, std::move(described), m.parts, m.tables, m.metrics, names);
      };
  p.facts.model_folder = folder.path();
  return {};
}

// Where checkpoints and the scheduler's log go; empty: there are none.
std::string checkpoint_folder_of(const config::Job& job) {
  const auto& c = job.checkpoint();
  if (!c.folder().empty()) return c.folder();
  return c.every() > 0 && !job.model().output().empty() ? job.model().output() + ".checkpoints"
                                                        : "";
}

std::string model_description(const config::Job& job, const linear_job& linear) {
  auto description = describe_model(job, linear);
  description.set_format(model_format);
  const auto line = manifest_line(description);
  return line ? *line : std::string();
}

}  // namespace

result<void> add_checkpoints(prepared_job& p, const config::Job& job, const std::string& model,
                             const run_choices& choices) {
  auto& scheduler = p.cluster.scheduler;
  const auto folder = checkpoint_folder_of(job);
  scheduler.job.resume = choices.resume;
  scheduler.state_folder = choices.state_folder;
  if (folder.empty()) {
    if (job.checkpoint().every() > 0)
      return error{errc::bad_config, "checkpoint.every: there is no folder; set checkpoint.folder"};
    if (choices.resume)
      return error{errc::bad_usage, "--resume needs checkpoint.folder, or checkpoint.every"};
    return {};
  }
  scheduler.job.checkpoint_folder = folder;
  if (scheduler.state_folder.empty()) scheduler.state_folder = folder;
  scheduler.checkpoints = std::make_shared<checkpoint_store>(
      p.cluster.files, folder, job.checkpoint().keep(), config::to_toml(job), model);
  return scheduler.checkpoints->prepare();
}

void describe_cluster(const config::Job& job, std::shared_ptr<file_system> files,
                      prepared_job& into) {
  auto& c = into.cluster;
  auto& settings = c.scheduler.job;
  settings.servers = job.cluster().servers();
  settings.workers = job.cluster().workers();
  settings.copies = job.cluster().copies();
  settings.virtual_nodes = job.cluster().virtual_nodes();
  settings.join_patience = duration(job.cluster().join_patience());
  c.worker.faults = faults_of(job.debug());
  c.events = events_of(job.debug());
  const auto& s = job.supervision();
  c.restarts = {s.restarts(), duration(s.restart_window()), duration(s.backoff()),
                duration(s.backoff_limit())};
  c.scheduler_restarts = c.restarts;
  c.threads = job.cluster().threads();
  c.request_timeout = duration(job.cluster().request_timeout());
  c.beat_every = duration(job.cluster().beat_every());
  c.files = std::move(files);
  c.scheduler.configuration = config::to_toml(job);
}

log_settings log_settings_of(const config::Log& log) {
  log_settings settings;
  settings.level = level_of(log.level());
  for (const auto& [component, level] : log.components())
    settings.components[component] = level_of(level);
  settings.json = log.format() == "json";
  settings.file = log.file();
  return settings;
}

instant wall_clock() {
  return {std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

result<prepared_job> prepare_job(const config::Job& given, std::shared_ptr<file_system> files,
                                 const run_choices& choices) {
  if (given.model().app() == "chaos") return prepare_chaos(given, std::move(files), choices);
  if (given.model().app() == "external") return prepare_external(given, std::move(files), choices);
  if (const auto started = configure_log(choices.log ? *choices.log : log_settings_of(given.log()));
      !started)
    return started.failure();
  prepared_job p;
  p.reading = std::make_shared<meter>();
  auto learning = prepare_linear(given, files, *p.reading);
  if (!learning) return learning.failure();
  const auto& job = learning->job;
  auto& scheduler = p.cluster.scheduler;
  scheduler.job = std::move(learning->settings);
  describe_cluster(job, files, p);
  p.new_scores = [metrics = learning->made.metrics] {
    return std::make_shared<metric_set>(metrics);
  };
  scheduler.scores = p.new_scores();
  p.cluster.worker.app = std::move(learning->app);
  p.facts = facts_of(*learning, scheduler.job.plan);
  scheduler.train_rows = learning->train().rows();
  if (choices.worker_alone) return p;
  if (const auto saving =
          save_into(p, job, learning->made, learning->train(), files, choices.goes_on);
      !saving)
    return saving.failure();
  if (const auto ready = add_checkpoints(p, job, model_description(job, learning->made), choices);
      !ready)
    return ready.failure();
  if (scheduler.state_folder.empty()) p.cluster.scheduler_restarts.budget = 0;
  return p;
}

pb::JobStatus run_job(prepared_job& job,
                      const std::function<bool(const pb::JobStatus&, instant)>& watch) {
  const auto begun = wall_clock();
  job.cluster.watch = [&](const pb::JobStatus& status) {
    return watch && watch(status, wall_clock());
  };
  auto status = run_local_cluster(job.cluster);
  note_end(job, status, seconds_of(wall_clock() - begun));
  return status;
}

void note_end(prepared_job& job, const pb::JobStatus& status, double wall_seconds) {
  job.facts.wall_seconds = wall_seconds;
  if (status.phase() == pb::JobStatus::FINISHED)
    job.facts.model_digest =
        model_digest(std::vector<pb::TableSummary>(status.tables().begin(), status.tables().end()));
  else
    job.facts.model_folder.clear();  // nothing was saved
}

}  // namespace troupe
