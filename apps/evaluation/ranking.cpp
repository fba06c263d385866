#include "apps/evaluation/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace troupe {

void ranking::side::add(double row_score, double row_weight) {
  if (weight.empty() && row_weight != 1) weight.assign(score.size(), 1);
  score.push_back(row_score);
  if (!weight.empty() || row_weight != 1) weight.push_back(row_weight);
}

void ranking::side::sort() {
  if (weight.empty()) return std::sort(score.begin(), score.end());
  std::vector<std::pair<double, double>> rows(score.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {score[i], weight[i]};
  // Ties by weight too, so that their sum has one order only.
  std::sort(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i) std::tie(score[i], weight[i]) = rows[i];
}

double ranking::side::total() const {
  return weight.empty() ? static_cast<double>(score.size())
                        : std::accumulate(weight.begin(), weight.end(), 0.0);
}

void ranking::reserve(std::size_t positives, std::size_t negatives) {
  positive_.score.reserve(positives);
  negative_.score.reserve(negatives);
}

void ranking::add(double score, bool positive, double weight) {
  sorted_ = false;
  not_a_number_ = not_a_number_ || std::isnan(score);
  (positive ? positive_ : negative_).add(score, weight);
}

// Sorts if need be; whether both classes have any weight, and all scores are numbers.
bool ranking::ready() {
  if (not_a_number_) return false;
  if (!sorted_) {
    positive_.sort();
    negative_.sort();
    sorted_ = true;
  }
  return positive_.total() > 0 && negative_.total() > 0;
}

// Calls visit(positive weight, negative weight) for each different score, the largest first.
template <class Visit>
void ranking::from_above(Visit visit) const {
  auto p = positive_.score.size(), n = negative_.score.size();
  const auto take = [](const side& of, std::size_t& left, double score) {
    double sum = 0;
    for (; left > 0 && of.score[left - 1] == score; --left)
      sum += of.weight.empty() ? 1 : of.weight[left - 1];
    return sum;
  };
  while (p > 0 || n > 0) {
    const bool from_positive = n == 0 || (p > 0 && positive_.score[p - 1] > negative_.score[n - 1]);
    const double score = from_positive ? positive_.score[p - 1] : negative_.score[n - 1];
    const double positives = take(positive_, p, score);
    visit(positives, take(negative_, n, score));
  }
}

std::optional<double> ranking::area_under_roc() {
  if (!ready()) return std::nullopt;
  double pairs = 0, above = 0, negatives = 0;
  from_above([&](double tied_positive, double tied_negative) {
    pairs += tied_negative * (above + tied_positive / 2);
    above += tied_positive;
    negatives += tied_negative;
  });
  return pairs / above / negatives;
}

std::optional<double> ranking::average_precision() {
  if (!ready()) return std::nullopt;
  const double all = positive_.total();
  double area = 0, positives = 0, taken = 0;
  from_above([&](double tied_positive, double tied_negative) {
    positives += tied_positive;
    taken += tied_positive + tied_negative;
    if (tied_positive > 0) area += tied_positive / all * (positives / taken);
  });
  return area;
}

}  // namespace troupe
