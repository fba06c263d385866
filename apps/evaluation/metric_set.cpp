#include "apps/evaluation/metric_set.hpp"

#include <cmath>

#include "apps/evaluation/auc.hpp"

namespace troupe {
namespace {

pb::Metric metric(const std::string& name, std::optional<double> value) {
  pb::Metric m;
  m.set_name(name);
  m.set_known(value && std::isfinite(*value));
  if (m.known()) m.set_value(*value);
  return m;
}

// Calls visit(score, label, weight) for each row, in order.
template <class Parts, class Visit>
void for_each_row(const Parts& of_set, Visit visit) {
  for (const auto& [number, scores] : of_set) {
    const auto numbers = scores.template as<double>();
    for (std::size_t i = 0; i + 3 <= numbers.size(); i += 3)
      visit(numbers[i], numbers[i + 1], numbers[i + 2]);
  }
}

}  // namespace

struct metric_set::sums {
  std::uint64_t rows = 0;
  double loss = 0, weight = 0, right = 0;
  std::optional<double> mean(double sum) const {
    return weight > 0 ? std::optional<double>(sum / weight) : std::nullopt;
  }
};

void metric_set::add(const pb::EvaluatedPart& part, const blob& scores) {
  scores_[part.data_set()][part.part()] = scores;
}

metric_set::sums metric_set::add_up(const parts& of_set) const {
  sums s;
  const auto& classes = settings_.classes;
  for_each_row(of_set, [&](double score, double label, double weight) {
    ++s.rows;
    s.loss += weight * settings_.loss(score, label);
    s.weight += weight;
    if (classes && (score > settings_.threshold) == (label == classes->positive)) s.right += weight;
  });
  return s;
}

std::optional<double> metric_set::auc(const parts& of_set) const {
  if (!settings_.classes) return std::nullopt;
  std::vector<ranked_row> rows;
  std::size_t count = 0;
  for (const auto& [number, scores] : of_set) count += scores.size() / (3 * sizeof(double));
  rows.reserve(count);
  for_each_row(of_set, [&](double score, double label, double weight) {
    rows.push_back({score, weight, label == settings_.classes->positive});
  });
  return area_under_curve(rows);
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

std::vector<pb::Metric> metric_set::figures(const std::vector<pb::TableSummary>& tables) const {
  std::vector<pb::Metric> all;
  for (const auto& [name, of_set] : scores_) {
    const auto s = add_up(of_set);
    if (name == "train")
      all.insert(all.begin(),
                 metric("objective", s.rows > 0 ? std::optional<double>(s.loss + penalty(tables))
                                                : std::nullopt));
    const auto loss = s.mean(s.loss);
    if (!settings_.log_loss) all.push_back(metric(name + "_loss", loss));
    all.push_back(metric(name + "_logloss", settings_.log_loss ? loss : std::nullopt));
    all.push_back(metric(name + "_accuracy", settings_.classes ? s.mean(s.right) : std::nullopt));
    all.push_back(metric(name + "_auc", auc(of_set)));
  }
  return all;
}

}  // namespace troupe
