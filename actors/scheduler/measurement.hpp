#pragma once
// One evaluation of the model as it is: data sets in parts, which workers score, and every server's
// summary of every table. What is handed out, what has come back, and what came of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/scheduler/evaluation.hpp"
#include "core/result.hpp"
#include "messages/view.hpp"

namespace troupe {

// A data set to score, and in how many parts: as many as slots where that is 0. Neither the number
// of parts nor who scores them changes a figure; a part's scores are in memory at once.
struct scored_set {
  std::string name;
  std::uint32_t parts = 0;
  bool sums_only = false;  // the loss alone: no scores travel, and there are no metrics but that
};

class measurement {
 public:
  // `scores` outlives the measurement.
  explicit measurement(evaluation& scores) : scores_(scores) {}

  // What was measured before is forgotten.
  void begin(const std::vector<scored_set>& data_sets, std::uint32_t slots, const view& present,
             std::size_t shards, std::size_t tables, double penalty = 1);
  // The summaries alone, of other shards.
  void begin_summaries(std::size_t shards);

  // Parts to hand out, in their order; each time under a new number, by which its answer is known.
  std::optional<pb::EvaluateTask> take_task();
  // The worker died or did not answer. False: too many have, and the evaluation should be given up.
  bool give_back(pb::EvaluateTask task, bool tried);
  void scored(const pb::EvaluatedPart& part, const blob& scores);
  void summarised(std::uint32_t shard, std::uint32_t table, const pb::TableSummary& part);
  // The summaries are waited for all the same.
  void give_up(error why);

  bool summaries_complete() const { return summaries_open_ == 0; }
  // Factor of l1 and l2 that the figures were asked for with.
  double penalty() const { return penalty_; }
  bool complete() const { return tasks_open_ == 0 && summaries_open_ == 0; }
  const std::optional<error>& failure() const { return failure_; }
  std::vector<pb::TableSummary> tables() const;  // the whole of each
  std::vector<pb::Metric> metrics() const;       // none after a failure

 private:
  evaluation& scores_;
  std::vector<pb::EvaluateTask> tasks_;  // not handed out, the next at the back
  std::size_t tasks_open_ = 0;           // handed out or not, without a result
  std::uint32_t given_back_ = 0;
  std::uint64_t handed_out_ = 0;  // in all measurements
  double penalty_ = 1;
  std::size_t tables_ = 0, summaries_open_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, pb::TableSummary> summaries_;  // (table, shard)
  std::optional<error> failure_;
};

// Adds one server's part of a table's summary to the whole.
void add_summary(pb::TableSummary& sum, const pb::TableSummary& part);

}  // namespace troupe
