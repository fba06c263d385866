#pragma once
// The figures of a trained model, from its scores and its tables:
//
//   objective          sum of weighted losses over the data set "train"
//                      + l1 * sum |w| + l2 / 2 * sum w^2 of each table
//   largest_violation  of the optimality conditions, where a table's function keeps it: each
//                      value's as it was when it was stepped last
//   SET_METRIC         each metric (metric.hpp) of each data set SET that was scored
//
// What is not defined has Metric.known == false, and so has what is not finite. Works without a
// cluster too.

#include <map>
#include <string>
#include <vector>

#include "actors/scheduler/evaluation.hpp"
#include "apps/evaluation/metric.hpp"

namespace troupe {

struct table_penalty {
  double l1 = 0, l2 = 0;
};

struct metric_settings : score_meaning {
  std::vector<table_penalty> penalties;  // of each table, by number
  // In metric_registry::global(); empty: usual_metrics(), and those of `regression` if the loss is
  // one of numbers.
  std::vector<std::string> metrics;
  bool regression = false;
  std::string also;  // a metric that is reported in any case; may be empty
};

class metric_set final : public evaluation {
 public:
  // A part with so many columns has no scores: its loss and weight are all there is.
  static constexpr std::uint32_t columns_of_sums = 1;

  explicit metric_set(metric_settings settings) : settings_(std::move(settings)) {}

  void add(const pb::EvaluatedPart& part, const blob& scores) override;
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>& tables) const override;
  void clear() override {
    scores_.clear();
    losses_.clear();
  }

 private:
  std::vector<std::string> metrics_of(const scored_rows& rows) const;
  std::vector<pb::Metric> figures_of_sums(double penalties) const;
  ranking ranking_of(const scored_rows& rows) const;
  double penalty(const std::vector<pb::TableSummary>& tables) const;

  const metric_settings settings_;
  std::map<std::string, scored_rows> scores_;  // by data set
  // Of data sets without scores: (loss, weight) by part.
  std::map<std::string, std::map<std::uint32_t, std::pair<double, double>>> losses_;
};

}  // namespace troupe
