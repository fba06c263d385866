#include "apps/commands/job_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "actors/server/plan.hpp"
#include "actors/worker/data/dataset.hpp"
#include "apps/commands/chaos_job.hpp"
#include "apps/commands/external_job.hpp"
#include "apps/commands/history_file.hpp"
#include "apps/linear/blocks/block_application.hpp"
#include "apps/linear/blocks/block_job.hpp"
#include "apps/linear/initial_model.hpp"
#include "apps/linear/linear_application.hpp"
#include "apps/linear/linear_job.hpp"
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

std::vector<std::string> all_of(const google::protobuf::RepeatedPtrField<std::string>& words) {
  return {words.begin(), words.end()};
}

result<std::shared_ptr<const dataset>> open_data(const config::Job& job, data_role role,
                                                 const char* what,
                                                 const std::vector<std::string>& sources,
                                                 const std::shared_ptr<file_system>& files,
                                                 meter& work_done) {
  auto data = dataset::open(files, sources, data_options_of(job, role), &work_done);
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
  t.set_beat_every(cluster.beat_every());
  t.set_suspect_after(cluster.suspect_after());
  t.set_death_after(cluster.death_after());
  t.set_lease(cluster.lease());
  t.set_copy_bytes(static_cast<std::uint64_t>(cluster.copy_buffer()));
  t.set_transfer_rate(static_cast<std::uint64_t>(cluster.transfer_rate()));
  t.set_copy_delay(cluster.copy_delay());
  return t;
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

// The data sets of a job: "train", and what it has of "test" and "validation".
result<linear_application::data_sets> open_all(const config::Job& job,
                                               const std::shared_ptr<file_system>& files,
                                               meter& work_done) {
  const auto& data = job.data();
  linear_application::data_sets all;
  auto train =
      open_data(job, data_role::train, "data.train", all_of(data.train()), files, work_done);
  if (!train) return train.failure();
  all["train"] = *train;
  if (data.test_size() > 0) {
    auto test =
        open_data(job, data_role::other, "data.test", all_of(data.test()), files, work_done);
    if (!test) return test.failure();
    all["test"] = *test;
  }
  if (data.validation_size() > 0 || data.validation_fraction() > 0) {
    const bool fraction = data.validation_fraction() > 0;
    auto validation =
        open_data(job, fraction ? data_role::validation : data_role::other, "data.validation",
                  all_of(fraction ? data.train() : data.validation()), files, work_done);
    if (!validation) return validation.failure();
    if ((*validation)->rows() == 0) return error{errc::bad_data, "data.validation has no rows"};
    all["validation"] = *validation;
  }
  return all;
}

const dataset* find(const linear_application::data_sets& data, const char* name) {
  const auto found = data.find(name);
  return found == data.end() ? nullptr : found->second.get();
}

const data_facts* facts_in(const linear_application::data_sets& data, const char* name) {
  const auto* set = find(data, name);
  return set == nullptr ? nullptr : &set->facts();
}

// In parts that need little memory: a part's scores are 24 to 32 bytes a row, twice.
scored_set scored(const config::Job& job, const linear_application::data_sets& data,
                  const std::string& name) {
  constexpr std::uint64_t rows_of_a_part = 1 << 20;
  const auto parts = data.at(name)->rows() / rows_of_a_part + 1;
  return {name, std::max(static_cast<std::uint32_t>(parts), job.cluster().slots())};
}

// Measuring during training, and the model to start from.
void add_stages(const config::Job& job, const linear_job& linear,
                const linear_application::data_sets& data,
                const std::optional<initial_model>& earlier, job_settings& settings) {
  const auto& train = *data.at("train");
  std::uint64_t clocks = 1;
  for (std::uint32_t slot = 0; slot < job.cluster().slots(); ++slot)
    clocks = std::max(clocks, schedule_for(linear.training, train, slot).clocks_per_epoch());
  settings.clocks_per_epoch = static_cast<double>(clocks);
  for (const auto& name : linear.measure) settings.measure.push_back(scored(job, data, name));
  settings.stopping = linear.stopping;
  if (job.evaluation().every() > 0)
    settings.measure_every = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(
               std::llround(job.evaluation().every() * static_cast<double>(clocks))));
  if (job.checkpoint().every() > 0)
    settings.checkpoint_every = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(
               std::llround(job.checkpoint().every() * static_cast<double>(clocks))));
  if (!earlier) return;
  settings.initial_folder = earlier->folder;
  settings.initial_files = earlier->files;
  settings.initial_state = job.model().initial_state();
  if (settings.initial_state) settings.plan.set_first_clock(earlier->manifest.clocks());
}

result<void> solve_by_blocks(const config::Job& job, const linear_job& linear,
                             const linear_application::data_sets& data,
                             std::shared_ptr<linear_application> evaluations,
                             std::shared_ptr<file_system> files, prepared_job& into) {
  const auto& train = data.at("train");
  auto plan = plan_blocks(*train, block_plan_settings_of(job));
  if (!plan) return plan.failure();
  const auto training = block_training_of(job, linear, *plan);
  if (!training) return training.failure();
  auto& settings = into.cluster.scheduler.job;
  set_course(job, linear, *training, settings);
  if (!measures_held_out(job)) settings.measure.clear();
  if (std::none_of(settings.measure.begin(), settings.measure.end(),
                   [](const scored_set& set) { return set.name == "train"; })) {
    settings.measure.push_back(scored(job, data, "train"));
    settings.measure.back().sums_only = true;
  }
  into.cluster.worker.app = std::make_shared<block_application>(
      *training, std::make_shared<const block_plan>(std::move(*plan)), std::move(files),
      std::move(evaluations), train);
  return {};
}

console::run_facts facts_of(const config::Job& job, const dataset& train, const dataset* test,
                            const dataset* validation, const pb::JobPlan& plan) {
  console::run_facts f;
  f.job = job.job().name();
  f.seed = job.job().seed();
  f.workers = job.cluster().workers();
  f.servers = job.cluster().servers();
  f.slots = job.cluster().slots();
  f.epochs = job.training().epochs();
  f.minibatch = solves_by_blocks(job) ? 0 : job.training().minibatch();
  f.staleness = config::bounded(job) ? std::to_string(job.training().staleness()) : "unbounded";
  f.train_rows = train.rows();
  f.test_rows = test != nullptr ? test->rows() : 0;
  f.validation_rows = validation != nullptr ? validation->rows() : 0;
  f.dropped_negatives = train.dropped_negatives();
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

pb::JobPlan plan_of_tables(const config::Job& job, const std::vector<pb::TableSpec>& tables) {
  pb::JobPlan plan;
  plan.set_name(job.job().name());
  plan.set_seed(job.job().seed());
  plan.set_slots(job.cluster().slots());
  plan.set_bounded(config::bounded(job));
  plan.set_staleness(config::bounded(job) ? static_cast<std::uint64_t>(job.training().staleness())
                                          : 0);
  for (const auto& table : tables) *plan.add_tables() = table;
  *plan.mutable_timings() = timings_of(job.cluster());
  plan.set_filters_everywhere(job.filters().everywhere());
  return plan;
}

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
  auto stepped = solves_by_blocks(given) ? with_block_steps(given) : result<config::Job>(given);
  if (!stepped) return stepped.failure();
  const auto& job = *stepped;
  if (job.model().app() == "chaos") return prepare_chaos(job, std::move(files), choices);
  if (job.model().app() == "external") return prepare_external(job, std::move(files), choices);
  if (const auto started = configure_log(choices.log ? *choices.log : log_settings_of(job.log()));
      !started)
    return started.failure();
  prepared_job p;
  p.reading = std::make_shared<meter>();
  auto& work_done = *p.reading;
  std::optional<initial_model> earlier;
  if (!job.model().initial().empty()) {
    auto read = read_initial_model(*files, job.model().initial());
    if (!read) return read.failure();
    earlier = std::move(*read);
  }
  const auto data = open_all(job, files, work_done);
  if (!data) return data.failure();
  const auto& train = *data->at("train");
  if (job.data().deal() == "blocks" && train.blocks().size() < job.cluster().slots())
    return error{
        errc::bad_config,
        format("data.deal: the training rows make %zu blocks, too few for %u slots to take "
               "in turn; lower data.block_rows or cluster.slots",
               train.blocks().size(), job.cluster().slots())};
  auto linear =
      make_linear_job(job, {&train.facts(), facts_in(*data, "test"), facts_in(*data, "validation"),
                            earlier ? &earlier->labels : nullptr});
  if (!linear) return linear.failure();
  if (earlier)
    if (const auto fits = check_initial_model(*earlier, job, *linear); !fits) return fits.failure();

  auto& scheduler = p.cluster.scheduler;
  scheduler.job.plan = plan_of_tables(job, linear->tables);
  // What cannot be made is the user's to hear of now, not a server's later.
  if (const auto tables = make_tables(scheduler.job.plan); !tables)
    return error{errc::bad_config, tables.failure().text};
  describe_cluster(job, files, p);
  if (job.evaluation().train()) scheduler.job.evaluate.push_back(scored(job, *data, "train"));
  for (const auto* name : {"test", "validation"})
    if (find(*data, name) != nullptr) scheduler.job.evaluate.push_back(scored(job, *data, name));
  add_stages(job, *linear, *data, earlier, scheduler.job);
  p.new_scores = [metrics = linear->metrics] { return std::make_shared<metric_set>(metrics); };
  scheduler.scores = p.new_scores();

  auto app = std::make_shared<linear_application>(linear->training, *data);
  p.cluster.worker.app = app;
  if (solves_by_blocks(job))
    if (const auto set = solve_by_blocks(job, *linear, *data, std::move(app), files, p); !set)
      return set.failure();
  p.facts =
      facts_of(job, train, find(*data, "test"), find(*data, "validation"), scheduler.job.plan);
  scheduler.train_rows = train.rows();
  if (choices.worker_alone) return p;
  if (const auto saving = save_into(p, job, *linear, train, files, choices.goes_on); !saving)
    return saving.failure();
  if (const auto ready = add_checkpoints(p, job, model_description(job, *linear), choices); !ready)
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
