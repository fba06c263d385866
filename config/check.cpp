#include "config/check.hpp"

#include "config/job.hpp"
#include "config/schema.hpp"
#include "config/units.hpp"
#include "core/text.hpp"

namespace troupe::config {

namespace {

using misfits = std::vector<misfit>;

void check_combine(const Job& job, const std::string& key, const std::string& combine,
                   misfits& found) {
  if (!bounded(job) && combine != "each")
    found.push_back(
        {key, "'" + combine +
                  "' adds up the pushes of a clock, which cannot be done when staleness is "
                  "unbounded; use 'each', or bound training.staleness"});
}

void check_updater(const std::string& key, const Updater& updater, misfits& found) {
  if (updater.clip_value() > 0 && updater.clip_norm() > 0)
    found.push_back(
        {key + ".clip_norm", "gradients can be clipped by value or by norm, not by both"});
}

void check_initialiser(const std::string& key, const Initialiser& initialiser, misfits& found) {
  if (initialiser.kind() == "uniform" && initialiser.low() > initialiser.high())
    found.push_back({key + ".low", "the lower end lies above the upper end"});
}

void check_bounds(const std::string& key, const Table& table, misfits& found) {
  const bool bounds = table.has_first() && table.has_last();
  if (table.has_first() != table.has_last())
    found.push_back({key + (table.has_first() ? ".first" : ".last"), "first and last go together"});
  if (bounds && table.first() > table.last())
    found.push_back({key + ".first", "first lies above last"});
  if (table.partition() == "hash" && (table.has_first() || table.has_last()))
    found.push_back(
        {key + ".partition", "first and last are the bounds of a range; 'hash' has none"});
  if (table.kind() == "dense" && table.partition() == "hash")
    found.push_back({key + ".partition", "a dense table is partitioned by range"});
}

void check_tables(const Job& job, misfits& found) {
  static const std::vector<std::string> linear = {"bias", "weights"};
  for (const auto& [name, table] :
       std::map<std::string, Table>(job.tables().begin(), job.tables().end())) {
    const auto key = joined("tables", name);
    if (job.model().app() == "linear" && name != "bias" && name != "weights") {
      const auto near = nearest(name, linear);
      found.push_back({key, "the linear app has no such table; its tables are weights and bias" +
                                (near.empty() ? "" : "; did you mean tables." + near + "?")});
    }
    if (job.model().app() == "linear" && table.has_width() && table.width() != 1)
      found.push_back({key + ".width", "the linear app has one value to a key"});
    const bool bounded_keys = table.kind() == "dense" || table.partition() == "range";
    if (job.model().app() == "external" && bounded_keys && !table.has_first())
      found.push_back({key + ".first", "a table of a range needs first and last"});
    const auto whole = table_of(job, name);
    if (table.has_combine()) check_combine(job, key + ".combine", table.combine(), found);
    if (table.has_updater()) check_updater(key + ".updater", whole.updater(), found);
    if (table.has_initialiser())
      check_initialiser(key + ".initialiser", whole.initialiser(), found);
    check_bounds(key, table, found);
  }
}

void check_cluster(const Cluster& cluster, misfits& found) {
  if (cluster.workers() > cluster.slots())
    found.push_back({"cluster.workers", format("%u workers cannot share %u slots: some would have "
                                               "nothing to do; lower cluster.workers, or "
                                               "raise cluster.slots, on which the result depends",
                                               cluster.workers(), cluster.slots())});
  const auto in_order = [&](const char* low, std::int64_t lower, const char* high,
                            std::int64_t higher) {
    if (lower > higher)
      found.push_back({low, duration_text(lower) + " is longer than the " + duration_text(higher) +
                                " of " + high});
  };
  in_order("cluster.retry_backoff", cluster.retry_backoff(), "cluster.retry_backoff_limit",
           cluster.retry_backoff_limit());
  in_order("cluster.request_timeout", cluster.request_timeout(), "cluster.patience",
           cluster.patience());
  in_order("cluster.hold", cluster.hold(), "cluster.patience", cluster.patience());
  if (cluster.suspect_after() < 2 * cluster.beat_every())
    found.push_back(
        {"cluster.suspect_after",
         "is too short: a node says that it lives every cluster.beat_every, and one word "
         "may be late"});
  if (cluster.death_after() < cluster.suspect_after())
    found.push_back({"cluster.death_after", "is shorter than cluster.suspect_after"});
  if (cluster.lease() > cluster.death_after())
    found.push_back(
        {"cluster.lease", "is longer than cluster.death_after: who takes over would wait for it"});
}

void check_supervision(const Supervision& s, misfits& found) {
  if (s.backoff() > s.backoff_limit())
    found.push_back({"supervision.backoff", duration_text(s.backoff()) + " is longer than the " +
                                                duration_text(s.backoff_limit()) +
                                                " of supervision.backoff_limit"});
}

void check_debug(const Job& job, misfits& found) {
  const auto slots = job.cluster().slots();
  const auto check = [&](const char* key, const auto& places) {
    for (const auto& place : places)
      if (place.slot() >= slots)
        found.push_back({key, format("there is no slot %u: cluster.slots is %u, counted from 0",
                                     place.slot(), slots)});
  };
  check("debug.throws", job.debug().throws());
  check("debug.slow", job.debug().slow());
  check("debug.repeat_push", job.debug().repeat_push());
  check("debug.nan_push", job.debug().nan_push());
}

void check_data(const Job& job, misfits& found) {
  const auto& data = job.data();
  if (data.validation_size() > 0 && data.validation_fraction() > 0)
    found.push_back({"data.validation_fraction",
                     "validation rows come from data.validation or from a fraction of the training "
                     "rows, not from both"});
  if (data.negative_keep() < 1 && data.positive_label() == "auto")
    found.push_back({"data.negative_keep",
                     "which rows are negative must be known while they are read; set "
                     "data.positive_label"});
  if (data.negative_keep() < 1 && job.model().loss() != "logistic")
    found.push_back({"data.negative_keep",
                     "only the odds of the logistic loss can be corrected for dropped rows"});
  if (data.positive_label() != "auto" && data.positive_label() == data.negative_label())
    found.push_back({"data.negative_label", "is the positive label too"});
  const auto& separator = data.csv().separator();
  if (separator.size() != 1 && separator != "tab")
    found.push_back({"data.csv.separator", "'" + separator + "' is not one character, or 'tab'"});
  const auto& weights = job.training().class_weights();
  const bool weighs =
      weights.mode() == "balanced" || weights.negative() != 1 || weights.positive() != 1;
  if (weighs && job.model().loss() == "squared")
    found.push_back({"training.class_weights", "the squared loss knows no classes"});
}

void check_evaluation(const Job& job, misfits& found) {
  const auto& e = job.evaluation();
  const bool validates = job.data().validation_size() > 0 || job.data().validation_fraction() > 0;
  const auto needs = [&](const char* key, bool set) {
    if (!set) return;
    if (e.every() == 0)
      found.push_back({key, "needs evaluations during training; set evaluation.every"});
    if (!validates)
      found.push_back({key,
                       "needs rows that are neither trained on nor the final test; set "
                       "data.validation or data.validation_fraction"});
  };
  needs("evaluation.patience", e.patience() > 0);
  needs("evaluation.keep_best", e.keep_best());
  if (e.keep_best() && job.model().output().empty())
    found.push_back({"evaluation.keep_best",
                     "the best model is kept beside model.output while training goes on; set it"});
}

void check_log(const Log& log, misfits& found) {
  static const std::vector<std::string> known = {"scheduler",  "server", "worker",
                                                 "supervisor", "data",   "job"};
  for (const auto& [name, level] :
       std::map<std::string, std::string>(log.components().begin(), log.components().end())) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest(name, known);
    found.push_back(
        {joined("log.components", name),
         "no component has this name" + (near.empty() ? "" : "; did you mean " + near + "?")});
  }
}

}  // namespace

std::vector<misfit> misfits_of(const Job& job) {
  misfits found;
  check_initialiser("model.initialiser", job.model().initialiser(), found);
  check_combine(job, "training.combine", job.training().combine(), found);
  check_updater("training.updater", job.training().updater(), found);
  check_tables(job, found);
  check_cluster(job.cluster(), found);
  check_supervision(job.supervision(), found);
  check_data(job, found);
  check_evaluation(job, found);
  check_log(job.log(), found);
  check_debug(job, found);
  return found;
}

}  // namespace troupe::config
