#include "apps/evaluation/metric_set.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

constexpr std::uint32_t usual_columns = 3;

pb::Metric metric(const std::string& name, std::optional<double> value) {
  pb::Metric m;
  m.set_name(name);
  m.set_known(value && std::isfinite(*value));
  if (m.known()) m.set_value(*value);
  return m;
}

}  // namespace

void metric_set::add(const pb::EvaluatedPart& part, const blob& scores) {
  if (part.columns() == columns_of_sums) {
    losses_[part.data_set()][part.part()] = {part.loss(), part.weight()};
    return;
  }
  const auto columns = part.columns() > usual_columns ? part.columns() : usual_columns;
  scores_[part.data_set()].put(part.part(), scores, columns);
}

std::vector<std::string> metric_set::metrics_of(const scored_rows& rows) const {
  auto names = settings_.metrics;
  if (names.empty()) {
    names = usual_metrics(settings_, rows.has_groups());
    if (settings_.regression)
      for (const auto* name : {"rmse", "mae", "r2"}) names.emplace_back(name);
  }
  if (!settings_.also.empty() &&
      std::find(names.begin(), names.end(), settings_.also) == names.end())
    names.push_back(settings_.also);
  return names;
}

double metric_set::penalty(const std::vector<pb::TableSummary>& tables) const {
  double sum = 0;
  for (const auto& table : tables) {
    if (table.table() >= settings_.penalties.size()) continue;
    const auto& p = settings_.penalties[table.table()];
    const double factor = table.penalty() > 0 ? table.penalty() : 1;
    sum += factor * (p.l1 * table.l1() + p.l2 / 2 * table.l2());
  }
  return sum;
}

ranking metric_set::ranking_of(const scored_rows& rows) const {
  ranking order;
  if (!settings_.classes) return order;
  const double positive = settings_.classes->positive;
  std::size_t positives = 0, all = 0;
  rows.for_each([&](const scored_rows::row& row) {
    positives += row.label == positive;
    ++all;
  });
  order.reserve(positives, all - positives);
  rows.for_each([&](const scored_rows::row& row) {
    order.add(row.score, row.label == positive, row.weight);
  });
  return order;
}

std::vector<pb::Metric> metric_set::figures_of_sums(double penalties) const {
  std::vector<pb::Metric> all;
  for (const auto& [name, parts] : losses_) {
    double loss = 0, weight = 0;
    for (const auto& [part, sums] : parts) {
      loss += sums.first;
      weight += sums.second;
    }
    if (name == "train") all.insert(all.begin(), metric("objective", loss + penalties));
    all.push_back(metric(name + (settings_.log_loss ? "_logloss" : "_loss"),
                         weight > 0 ? std::optional<double>(loss / weight) : std::nullopt));
  }
  return all;
}

std::vector<pb::Metric> metric_set::figures(const std::vector<pb::TableSummary>& tables) const {
  auto all = figures_of_sums(penalty(tables));
  for (const auto& [name, rows] : scores_) {
    auto order = ranking_of(rows);
    if (name == "train") {
      double loss = 0;
      rows.for_each([&](const scored_rows::row& row) {
        loss += row.weight * settings_.loss(row.score, row.label);
      });
      all.insert(all.begin(),
                 metric("objective", rows.rows() > 0 ? std::optional<double>(loss + penalty(tables))
                                                     : std::nullopt));
    }
    const metric_input input{rows, settings_, settings_.classes ? &order : nullptr};
    for (const auto& one : metrics_of(rows)) {
      const auto entry = metric_registry::global().find(one);
      all.push_back(metric(name + "_" + one, entry ? entry->of(input) : std::nullopt));
    }
  }
  double largest = 0;
  bool has_largest = false;
  for (const auto& table : tables) {
    has_largest = has_largest || table.has_largest();
    largest = std::max(largest, table.largest());
  }
  if (has_largest) all.push_back(metric("largest_violation", largest));
  return all;
}

}  // namespace troupe
