#include "apps/evaluation/metric.hpp"

#include <cmath>

#include "core/math.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

using figure = std::optional<double>;

// The weighted mean of value(row).
template <class Value>
figure mean_of(const metric_input& of, Value value) {
  double sum = 0, weight = 0;
  of.rows.for_each([&](const scored_rows::row& row) {
    sum += row.weight * value(row);
    weight += row.weight;
  });
  return metric_input::mean(sum, weight);
}

figure loss(const metric_input& of) {
  return mean_of(of, [&](const auto& row) { return of.meaning.loss(row.score, row.label); });
}

figure logloss(const metric_input& of) {
  return of.meaning.log_loss ? loss(of) : std::nullopt;
}

figure accuracy(const metric_input& of) {
  const auto& classes = of.meaning.classes;
  if (!classes) return std::nullopt;
  return mean_of(of, [&](const auto& row) {
    return (row.score > of.meaning.threshold) == (row.label == classes->positive) ? 1.0 : 0.0;
  });
}

figure auc(const metric_input& of) {
  return of.order == nullptr ? std::nullopt : of.order->area_under_roc();
}

figure pr_auc(const metric_input& of) {
  return of.order == nullptr ? std::nullopt : of.order->average_precision();
}

struct class_weights {
  double positive = 0, all = 0;
};
class_weights weights_of(const metric_input& of) {
  class_weights sum;
  of.rows.for_each([&](const scored_rows::row& row) {
    if (row.label == of.meaning.classes->positive) sum.positive += row.weight;
    sum.all += row.weight;
  });
  return sum;
}

// He et al.: Practical Lessons from Predicting Clicks on Ads at Facebook (ADKDD 2014), section 3:
// the log-loss over that of predicting the share of positives for every row.
figure normalised_entropy(const metric_input& of) {
  const auto mean = logloss(of);
  if (!mean || !of.meaning.classes) return std::nullopt;
  const auto sum = weights_of(of);
  const double p = sum.positive / sum.all;
  const double entropy = -(p * math::log1p(p - 1) + (1 - p) * math::log1p(-p));
  return entropy > 0 ? figure(*mean / entropy) : std::nullopt;
}

// The sum of predicted probabilities over that of positive rows (the same, section 3).
figure calibration(const metric_input& of) {
  if (!of.meaning.log_loss || !of.meaning.classes) return std::nullopt;
  double predicted = 0;
  of.rows.for_each(
      [&](const scored_rows::row& row) { predicted += row.weight / (1 + math::exp(-row.score)); });
  return metric_input::mean(predicted, weights_of(of).positive);
}

// The mean of the groups' AUC, weighted by their rows' weights, over the groups that have both
// classes.
figure group_auc(const metric_input& of) {
  if (of.order == nullptr) return std::nullopt;
  struct group {
    ranking order;
    double weight = 0;
  };
  std::map<std::uint64_t, group> groups;
  of.rows.for_each([&](const scored_rows::row& row) {
    if (row.group == no_group) return;
    auto& g = groups[row.group];
    g.order.add(row.score, row.label == of.meaning.classes->positive, row.weight);
    g.weight += row.weight;
  });
  double sum = 0, weight = 0;
  for (auto& [number, g] : groups)
    if (const auto area = g.order.area_under_roc()) {
      sum += g.weight * *area;
      weight += g.weight;
    }
  return metric_input::mean(sum, weight);
}

figure rmse(const metric_input& of) {
  const auto mean = mean_of(of, [](const auto& row) {
    const double off = row.score - row.label;
    return off * off;
  });
  return mean ? figure(std::sqrt(*mean)) : std::nullopt;
}

figure mae(const metric_input& of) {
  return mean_of(of, [](const auto& row) { return std::fabs(row.score - row.label); });
}

figure r2(const metric_input& of) {
  const auto label = mean_of(of, [](const auto& row) { return row.label; });
  const auto error = rmse(of);
  if (!label || !error) return std::nullopt;
  const auto variance = mean_of(of, [&](const auto& row) {
    const double off = row.label - *label;
    return off * off;
  });
  return *variance > 0 ? figure(1 - *error * *error / *variance) : std::nullopt;
}

}  // namespace

metric_registry& metric_registry::global() {
  static metric_registry registry;
  static const bool filled = [] {
    constexpr bool larger = true, smaller = false;
    registry.add("loss", {loss, smaller});
    registry.add("logloss", {logloss, smaller});
    registry.add("accuracy", {accuracy, larger});
    registry.add("auc", {auc, larger});
    registry.add("pr_auc", {pr_auc, larger});
    registry.add("normalised_entropy", {normalised_entropy, smaller});
    // Nearest to 1 would be best, which "larger" and "smaller" cannot say: no model is chosen by
    // it.
    registry.add("calibration", {calibration, smaller});
    registry.add("group_auc", {group_auc, larger});
    registry.add("rmse", {rmse, smaller});
    registry.add("mae", {mae, smaller});
    registry.add("r2", {r2, larger});
    return true;
  }();
  (void)filled;
  return registry;
}

std::vector<std::string> usual_metrics(const score_meaning& meaning, bool groups) {
  std::vector<std::string> names;
  if (!meaning.log_loss) names.emplace_back("loss");
  for (const auto* name : {"logloss", "accuracy", "auc"}) names.emplace_back(name);
  if (meaning.classes) names.emplace_back("pr_auc");
  if (meaning.log_loss)
    for (const auto* name : {"normalised_entropy", "calibration"}) names.emplace_back(name);
  if (meaning.classes && groups) names.emplace_back("group_auc");
  return names;
}

}  // namespace troupe
