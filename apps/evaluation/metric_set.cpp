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
    sum += p.l1 * table.l1() + p.l2 / 2 * table.l2();
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

std::vector<pb::Metric> metric_set::figures(const std::vector<pb::TableSummary>& tables) const {
  std::vector<pb::Metric> all;
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
  return all;
}

}  // namespace troupe
