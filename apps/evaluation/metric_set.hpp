#pragma once
// The figures of a trained model, from its scores and its tables:
//
//   objective          sum of weighted losses over the data set "train"
//                      + l1 * sum |w| + l2 / 2 * sum w^2 of each table
//   SET_loss           mean weighted loss, where it is no log-loss
//   SET_logloss        mean weighted log-loss of the probability sigmoid(score), in nats
//   SET_accuracy       weighted share of rows whose score lies on their label's side
//   SET_auc            see auc.hpp
//
// for each data set SET that was scored. What is not defined has Metric.known == false: the
// log-loss of other losses, accuracy and AUC of labels that are no two classes, AUC of a single
// class, anything of no rows, anything not finite.
//
// Sums go over the rows of a data set in their order, so they have the same bits however the set
// was cut into parts, whoever scored them. Works without a cluster too. Memory: 24 bytes a row for
// the scores that were added, and as much again, for one set at a time, while figures() runs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/scheduler/evaluation.hpp"

namespace troupe {

struct two_classes {
  double negative = -1, positive = 1;  // labels, as the scores carry them
};

struct table_penalty {
  double l1 = 0, l2 = 0;
};

struct metric_settings {
  std::function<double(double score, double label)> loss;
  bool log_loss = false;  // the loss is the log-loss of sigmoid(score)
  std::optional<two_classes> classes;
  double threshold = 0;                  // the score above which a row is taken for a positive one
  std::vector<table_penalty> penalties;  // of each table, by number
};

class metric_set final : public evaluation {
 public:
  explicit metric_set(metric_settings settings) : settings_(std::move(settings)) {}

  void add(const pb::EvaluatedPart& part, const blob& scores) override;
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>& tables) const override;

 private:
  using parts = std::map<std::uint32_t, blob>;
  struct sums;

  sums add_up(const parts& of_set) const;
  std::optional<double> auc(const parts& of_set) const;
  double penalty(const std::vector<pb::TableSummary>& tables) const;

  const metric_settings settings_;
  std::map<std::string, parts> scores_;  // by data set
};

}  // namespace troupe
