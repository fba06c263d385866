#include "apps/commands/job_run.hpp"

#include <chrono>

#include "actors/server/plan.hpp"
#include "actors/worker/data/dataset.hpp"
#include "apps/linear/linear_application.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/linear/saved_linear.hpp"
#include "apps/model/model_digest.hpp"
#include "apps/model/model_folder.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

log_level level_of(const std::string& word) {
  static const std::map<std::string, log_level> levels{
      {"trace", log_level::trace},     {"debug", log_level::debug}, {"info", log_level::info},
      {"warning", log_level::warning}, {"error", log_level::error}, {"off", log_level::off}};
  return levels.at(word);  // the schema allows no other
}

result<void> start_log(const config::Log& log) {
  log_settings settings;
  settings.level = level_of(log.level());
  for (const auto& [component, level] : log.components())
    settings.components[component] = level_of(level);
  settings.json = log.format() == "json";
  settings.file = log.file();
  return configure_log(settings);
}

std::vector<std::string> all_of(const google::protobuf::RepeatedPtrField<std::string>& words) {
  return {words.begin(), words.end()};
}

result<std::shared_ptr<const dataset>> open_data(const config::Job& job, const char* what,
                                                 const std::vector<std::string>& sources,
                                                 const std::shared_ptr<file_system>& files,
                                                 meter& work_done) {
  auto data = dataset::open(files, sources, data_options_of(job), &work_done);
  if (!data) return data;
  if (const auto skipped = (*data)->skipped(); skipped.count > 0)
    log("data", log_level::warning,
        format("%s: %llu bad rows were skipped", what,
               static_cast<unsigned long long>(skipped.count)));
  return data;
}

pb::Timings timings_of(const config::Cluster& cluster) {
  pb::Timings t;
  t.set_request_timeout(cluster.request_timeout());
  t.set_hold(cluster.hold());
  t.set_patience(cluster.patience());
  t.set_backoff(cluster.retry_backoff());
  t.set_backoff_limit(cluster.retry_backoff_limit());
  t.set_pull_retries(cluster.pull_retries());
  t.set_window(cluster.window());
  t.set_report_every(cluster.report_every());
  return t;
}

pb::JobPlan plan_of(const config::Job& job, const linear_job& linear) {
  pb::JobPlan plan;
  plan.set_name(job.job().name());
  plan.set_seed(job.job().seed());
  plan.set_slots(job.cluster().slots());
  plan.set_bounded(config::bounded(job));
  plan.set_staleness(config::bounded(job) ? static_cast<std::uint64_t>(job.training().staleness())
                                          : 0);
  for (const auto& table : linear.tables) *plan.add_tables() = table;
  *plan.mutable_timings() = timings_of(job.cluster());
  return plan;
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

console::run_facts facts_of(const config::Job& job, const dataset& train, const dataset* test,
                            const pb::JobPlan& plan) {
  console::run_facts f;
  f.job = job.job().name();
  f.seed = job.job().seed();
  f.workers = job.cluster().workers();
  f.servers = job.cluster().servers();
  f.slots = job.cluster().slots();
  f.epochs = job.training().epochs();
  f.minibatch = job.training().minibatch();
  f.staleness = config::bounded(job) ? std::to_string(job.training().staleness()) : "unbounded";
  f.train_rows = train.rows();
  f.test_rows = test != nullptr ? test->rows() : 0;
  for (const auto& table : plan.tables()) f.table_names.push_back(table.name());
  return f;
}

// Where the model goes: what stands in its way is found out before anything is computed.
result<void> save_into(prepared_job& p, const config::Job& job, const linear_job& linear,
                       const std::shared_ptr<file_system>& files) {
  if (job.model().output().empty()) return {};
  const model_folder folder(job.model().output());
  if (const auto ready = folder.prepare(*files); !ready) return ready.failure();
  p.cluster.scheduler.job.model_folder = folder.partial();
  p.cluster.scheduler.publish = [folder, files, description = describe_model(job, linear),
                                 dictionary = job.data().dictionary()](const publish_model& m) {
    return folder.publish(*files, description, m.parts, m.tables, m.metrics, dictionary);
  };
  p.facts.model_folder = folder.path();
  return {};
}

}  // namespace

instant wall_clock() {
  return {std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

result<prepared_job> prepare_job(const config::Job& job, std::shared_ptr<file_system> files) {
  if (const auto started = start_log(job.log()); !started) return started.failure();
  prepared_job p;
  p.reading = std::make_shared<meter>();
  auto& work_done = *p.reading;
  auto train = open_data(job, "data.train", all_of(job.data().train()), files, work_done);
  if (!train) return train.failure();
  std::shared_ptr<const dataset> test;
  if (job.data().test_size() > 0) {
    auto opened = open_data(job, "data.test", all_of(job.data().test()), files, work_done);
    if (!opened) return opened.failure();
    test = *opened;
  }
  auto linear = make_linear_job(job, (*train)->facts(), test ? &test->facts() : nullptr);
  if (!linear) return linear.failure();

  auto& scheduler = p.cluster.scheduler;
  scheduler.job.plan = plan_of(job, *linear);
  // What cannot be made is the user's to hear of now, not a server's later.
  if (const auto tables = make_tables(scheduler.job.plan); !tables)
    return error{errc::bad_config, tables.failure().text};
  scheduler.job.servers = job.cluster().servers();
  scheduler.job.workers = job.cluster().workers();
  scheduler.job.virtual_nodes = job.cluster().virtual_nodes();
  scheduler.job.join_patience = duration(job.cluster().join_patience());
  if (job.evaluation().train()) scheduler.job.evaluate.emplace_back("train");
  if (test) scheduler.job.evaluate.emplace_back("test");
  p.new_scores = [metrics = linear->metrics] { return std::make_shared<metric_set>(metrics); };
  scheduler.scores = p.new_scores();

  p.cluster.worker.app = std::make_shared<linear_application>(linear->training, *train, test);
  p.cluster.worker.faults = faults_of(job.debug());
  const auto& s = job.supervision();
  p.cluster.restarts = {s.restarts(), duration(s.restart_window()), duration(s.backoff()),
                        duration(s.backoff_limit())};
  p.facts = facts_of(job, **train, test.get(), scheduler.job.plan);
  if (const auto saving = save_into(p, job, *linear, files); !saving) return saving.failure();
  p.cluster.threads = job.cluster().threads();
  p.cluster.request_timeout = duration(job.cluster().request_timeout());
  p.cluster.files = std::move(files);
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
