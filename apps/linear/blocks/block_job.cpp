#include "apps/linear/blocks/block_job.hpp"

#include <algorithm>
#include <cmath>

#include "actors/server/functions/function_registry.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// What the factors of a path are of: l1, or l2 where that is the only penalty.
double whole_penalty(const linear_job& made) {
  const auto& weights = made.tables[weights_table];
  return weights.l1() > 0 ? weights.l1() : weights.l2();
}

}  // namespace

result<config::Job> with_block_steps(const config::Job& job) {
  auto changed = job;
  auto& training = *changed.mutable_training();
  const auto wrong = [](const std::string& why) { return error{errc::bad_config, why}; };
  if (training.updater().name() != "adagrad" && training.updater().name() != "block_proximal")
    return wrong("training.updater: the block solver steps by block_proximal alone; leave '" +
                 training.updater().name() + "' out");
  if (training.combine() == "mean")
    return wrong("training.combine: the block solver adds up what slots push");
  if (!config::bounded(job))
    return wrong("training.staleness: the block solver's delay needs a bound");
  if (job.evaluation().every() > 0)
    return wrong(
        "evaluation.every: with the block solver, solver.check_every says how often the "
        "model is measured");
  if (job.training().updater().l1() == 0 && job.training().updater().l2() == 0 &&
      job.solver().lambda_size() > 0)
    return wrong("solver.lambda: there is no penalty, l1 or l2, whose strengths these could be");
  if (job.solver().filter() == "kkt" && job.training().updater().l1() == 0)
    return wrong("solver.filter: without l1 no value is at rest");
  if (!job.model().initial().empty() && job.model().initial_state())
    return wrong(
        "model.initial: the block solver starts warm from the values alone; set "
        "model.initial_state = false");
  training.mutable_updater()->set_name("block_proximal");
  // Momentum and a fixed order of blocks swing each other up; an order that is drawn breaks the
  // beat.
  if (job.solver().order() == "ascending" && training.updater().parameters().count("carry") == 0)
    (*training.mutable_updater()->mutable_parameters())["carry"] = 0;
  training.set_combine("sum");
  for (auto& [name, table] : *changed.mutable_tables()) {
    if (table.has_combine() && table.combine() != "sum")
      return wrong("tables." + name + ".combine: the block solver adds up");
    if (table.has_updater() && table.updater().has_name() &&
        table.updater().name() != "block_proximal")
      return wrong("tables." + name + ".updater: the block solver steps by block_proximal alone");
  }
  return changed;
}

block_plan_settings block_plan_settings_of(const config::Job& job) {
  block_plan_settings settings;
  // The schema allows no other words.
  settings.cut = *block_cut_of(job.solver().by());
  settings.count = job.solver().count();
  return settings;
}

result<block_training> block_training_of(const config::Job& job, const linear_job& made,
                                         const block_plan& plan) {
  block_training t;
  t.model = made.training.model;
  t.feature_blocks = plan.blocks;
  t.passes = job.training().epochs();
  t.delay = static_cast<std::uint64_t>(job.training().staleness());
  t.seed = job.job().seed();
  t.shuffle = job.solver().order() == "random";
  t.slots = job.cluster().slots();
  const auto entry = function_registry::global().find("block_proximal");
  for (const auto& p : entry->parameters)
    if (p.name == "region") t.first_region = p.fallback;
  for (const auto& number : made.tables[weights_table].parameters())
    if (number.name() == "region") t.first_region = number.value();
  if (t.delay + 1 > t.blocks())
    return error{errc::bad_config,
                 format("training.staleness is %llu, and the features make %u blocks: no block may "
                        "be due again before its last step is known; it must be below the number "
                        "of blocks (solver.count)",
                        static_cast<unsigned long long>(t.delay), t.blocks())};
  return t;
}

bool measures_held_out(const config::Job& job) {
  return job.evaluation().patience() > 0 || job.evaluation().keep_best() ||
         job.solver().lambda_size() > 1;
}

void set_course(const config::Job& job, const linear_job& made, const block_training& training,
                job_settings& settings) {
  const auto& solver = job.solver();
  const std::uint64_t blocks = training.blocks();
  settings.clocks_per_epoch = static_cast<double>(blocks);
  settings.measure_first = blocks;
  settings.measure_every = std::max<std::uint64_t>(1, solver.check_every() * blocks);
  auto& course = settings.course;
  const double whole = whole_penalty(made);
  for (const double lambda : solver.lambda()) course.penalties.push_back(lambda / whole);
  if (course.penalties.empty()) course.penalties.push_back(1);
  course.objective_tolerance = solver.objective_tolerance();
  course.violation_tolerance = solver.violation_tolerance();
  course.filters = solver.filter() == "kkt";
  course.l1 = made.tables[weights_table].l1();
}

}  // namespace troupe
