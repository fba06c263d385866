#pragma once
// A figure of merit of scored rows, registered by name. Those of docs/evaluation.md come with
// Troupe; a program adds its own before it starts a job, and names it in evaluation.metrics:
//
//   metric_registry::global().add("mean_score", {[](const metric_input& of) {
//     double sum = 0, weight = 0;
//     of.rows.for_each([&](const auto& row) {
//       sum += row.weight * row.score;
//       weight += row.weight;
//     });
//     return of.mean(sum, weight);
//   }});
//
// What is not defined on some rows (AUC of a single class, anything of no rows) is no number. Sums
// go over the rows in their order, so a figure has the same bits however the set was cut into
// parts.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/evaluation/ranking.hpp"
#include "apps/evaluation/scored_rows.hpp"
#include "core/registry.hpp"

namespace troupe {

struct two_classes {
  double negative = -1, positive = 1;  // labels, as the scores carry them
};

// What labels and scores mean.
struct score_meaning {
  std::function<double(double score, double label)> loss;
  bool log_loss = false;  // the loss is the log-loss of the probability sigmoid(score), in nats
  std::optional<two_classes> classes;
  double threshold = 0;  // the score above which a row is taken for a positive one
};

struct metric_input {
  const scored_rows& rows;
  const score_meaning& meaning;
  // Of the two classes; null where there are none.
  ranking* order = nullptr;

  static std::optional<double> mean(double sum, double weight) {
    return weight > 0 ? std::optional<double>(sum / weight) : std::nullopt;
  }
};

struct metric_entry {
  std::function<std::optional<double>(const metric_input&)> of;
  bool larger_is_better = false;
};

class metric_registry : public registry<metric_entry> {
 public:
  metric_registry() : registry("metric") {}
  static metric_registry& global();  // has those that come with Troupe
};

// The metrics that are reported where nobody chose any.
std::vector<std::string> usual_metrics(const score_meaning& meaning, bool groups);

}  // namespace troupe
