#include "apps/linear/prepared_linear.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "actors/server/plan.hpp"
#include "apps/linear/blocks/block_application.hpp"
#include "apps/linear/blocks/block_job.hpp"
#include "apps/linear/initial_model.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

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

const data_facts* facts_in(const linear_application::data_sets& data, const char* name) {
  const auto found = data.find(name);
  return found == data.end() ? nullptr : &found->second->facts();
}

// In parts that need little memory: a part's scores are 24 to 32 bytes a row, twice.
scored_set scored(const prepared_linear& p, const std::string& name) {
  constexpr std::uint64_t rows_of_a_part = 1 << 20;
  const auto parts = p.data.at(name)->rows() / rows_of_a_part + 1;
  return {name, std::max(static_cast<std::uint32_t>(parts), p.job.cluster().slots())};
}

// Measuring during training, and the model to start from.
void add_stages(const std::optional<initial_model>& earlier, prepared_linear& p) {
  const auto& job = p.job;
  auto& settings = p.settings;
  std::uint64_t clocks = 1;
  for (std::uint32_t slot = 0; slot < job.cluster().slots(); ++slot)
    clocks = std::max(clocks, schedule_for(p.made.training, p.train(), slot).clocks_per_epoch());
  const auto in_clocks = [clocks](double epochs) {
    return std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(epochs * static_cast<double>(clocks))));
  };
  settings.clocks_per_epoch = static_cast<double>(clocks);
  for (const auto& name : p.made.measure) settings.measure.push_back(scored(p, name));
  settings.stopping = p.made.stopping;
  if (job.evaluation().every() > 0) settings.measure_every = in_clocks(job.evaluation().every());
  if (job.checkpoint().every() > 0) settings.checkpoint_every = in_clocks(job.checkpoint().every());
  if (!earlier) return;
  settings.initial_folder = earlier->folder;
  settings.initial_files = earlier->files;
  settings.initial_state = job.model().initial_state();
  if (settings.initial_state) settings.plan.set_first_clock(earlier->manifest.clocks());
}

result<void> solve_by_blocks(std::shared_ptr<linear_application> evaluations,
                             std::shared_ptr<file_system> files, prepared_linear& p) {
  auto plan = plan_blocks(p.train(), block_plan_settings_of(p.job));
  if (!plan) return plan.failure();
  const auto training = block_training_of(p.job, p.made, *plan);
  if (!training) return training.failure();
  set_course(p.job, p.made, *training, p.settings);
  auto& measure = p.settings.measure;
  if (!measures_held_out(p.job)) {
    measure.clear();
    p.settings.stopping = {};  // the last model is the one that is asked for
  }
  if (std::none_of(measure.begin(), measure.end(),
                   [](const scored_set& set) { return set.name == "train"; })) {
    measure.push_back(scored(p, "train"));
    measure.back().sums_only = true;
  }
  p.app = std::make_shared<block_application>(
      *training, std::make_shared<const block_plan>(std::move(*plan)), std::move(files),
      std::move(evaluations), p.data.at("train"));
  return {};
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

result<prepared_linear> prepare_linear(const config::Job& given, std::shared_ptr<file_system> files,
                                       meter& work_done) {
  prepared_linear p;
  auto stepped = solves_by_blocks(given) ? with_block_steps(given) : result<config::Job>(given);
  if (!stepped) return stepped.failure();
  p.job = std::move(*stepped);
  const auto& job = p.job;
  std::optional<initial_model> earlier;
  if (!job.model().initial().empty()) {
    auto read = read_initial_model(*files, job.model().initial());
    if (!read) return read.failure();
    earlier = std::move(*read);
  }
  auto data = open_all(job, files, work_done);
  if (!data) return data.failure();
  p.data = std::move(*data);
  if (job.data().deal() == "blocks" && p.train().blocks().size() < job.cluster().slots())
    return error{
        errc::bad_config,
        format("data.deal: the training rows make %zu blocks, too few for %u slots to take "
               "in turn; lower data.block_rows or cluster.slots",
               p.train().blocks().size(), job.cluster().slots())};
  auto made =
      make_linear_job(job, {&p.train().facts(), facts_in(p.data, "test"),
                            facts_in(p.data, "validation"), earlier ? &earlier->labels : nullptr});
  if (!made) return made.failure();
  p.made = std::move(*made);
  if (earlier)
    if (const auto fits = check_initial_model(*earlier, job, p.made); !fits) return fits.failure();
  p.settings.plan = plan_of_tables(job, p.made.tables);
  // What cannot be made is the user's to hear of now, not a server's later.
  if (const auto tables = make_tables(p.settings.plan); !tables)
    return error{errc::bad_config, tables.failure().text};
  if (job.evaluation().train()) p.settings.evaluate.push_back(scored(p, "train"));
  for (const auto* name : {"test", "validation"})
    if (p.find(name) != nullptr) p.settings.evaluate.push_back(scored(p, name));
  add_stages(earlier, p);
  auto app = std::make_shared<linear_application>(p.made.training, p.data);
  p.app = app;
  if (solves_by_blocks(job))
    if (const auto set = solve_by_blocks(std::move(app), std::move(files), p); !set)
      return set.failure();
  return p;
}

}  // namespace troupe
