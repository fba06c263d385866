#include "apps/linear/blocks/row_scores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/math.hpp"

namespace troupe {
namespace {

constexpr double unit = 0x1p32;
constexpr double most = 0x1p24;

std::int64_t fixed(double x) {
  // The addition rounds to a whole number of units; what is below 2^51 survives it exactly.
  const double scaled = std::clamp(x, -most, most) * unit;
  return static_cast<std::int64_t>(std::nearbyint(scaled));
}

// At least exp(x), for x >= 0; beyond 20 as good as infinite.
double at_least_exp(double x) {
  constexpr double e = 2.7182818284590455;
  double grown = 1;
  for (; x > 1; --x, grown *= e)
    if (grown > 1e9) return 1e300;
  return grown * (1 + x + (e - 2) * x * x);
}

}  // namespace

row_scores::row_scores(loss_kind loss, std::vector<double> labels, std::vector<double> weights)
    : loss_(loss),
      labels_(std::move(labels)),
      weights_(std::move(weights)),
      scores_(labels_.size()),
      slopes_(labels_.size()),
      moved_(labels_.size(), 1),
      moves_(labels_.size()),
      sizes_(labels_.size()),
      bounds_(labels_.size()) {}

void row_scores::clear() {
  std::fill(scores_.begin(), scores_.end(), 0);
  std::fill(moved_.begin(), moved_.end(), 1);
  any_moved_ = true;
}

double row_scores::score(std::size_t row) const {
  return static_cast<double>(scores_[row]) / unit;
}

void row_scores::move(const column_block& columns, span<const double> from, span<const double> to) {
  const bool ones = columns.value.empty();
  for (std::size_t k = 0; k < columns.columns(); ++k) {
    if (from[k] == to[k]) continue;
    any_moved_ = true;
    const auto begin = columns.begin[k], end = columns.begin[k + 1];
    if (ones) {
      const auto by = fixed(to[k]) - fixed(from[k]);
      for (auto e = begin; e < end; ++e) {
        scores_[columns.row[e]] += by;
        moved_[columns.row[e]] = 1;
      }
    } else {
      for (auto e = begin; e < end; ++e) {
        const double x = columns.value[e];
        scores_[columns.row[e]] += fixed(x * to[k]) - fixed(x * from[k]);
        moved_[columns.row[e]] = 1;
      }
    }
  }
}

// Works out the slopes of the rows whose scores have changed.
void row_scores::refresh() {
  if (!std::exchange(any_moved_, false)) return;
  stale_.clear();
  for (std::size_t i = 0; i < scores_.size(); ++i)
    if (std::exchange(moved_[i], std::uint8_t{0})) stale_.push_back(static_cast<std::uint32_t>(i));
  const auto weight_of = [&](std::size_t i) { return weights_.empty() ? 1 : weights_[i]; };
  if (loss_ == loss_kind::logistic) {
    wrong_.resize(stale_.size());
    for (std::size_t n = 0; n < stale_.size(); ++n)
      wrong_[n] = -labels_[stale_[n]] * score(stale_[n]);
    math::sigmoid_all(wrong_.data(), wrong_.size(), wrong_.data());
    for (std::size_t n = 0; n < stale_.size(); ++n) {
      const auto i = stale_[n];
      const double p = wrong_[n], weight = weight_of(i);
      slopes_[i] = {-labels_[i] * p * weight, p * (1 - p) * weight};
    }
    return;
  }
  for (const auto i : stale_) {
    const bool hinge = loss_ == loss_kind::squared_hinge;
    const double first =
        hinge ? squared_hinge_loss(score(i), labels_[i]).slope : score(i) - labels_[i];
    slopes_[i] = {first * weight_of(i), (hinge ? 2 : 1) * weight_of(i)};
  }
}

void row_scores::add_under_way(const column_block& columns, const std::vector<std::uint32_t>& which,
                               double sign) {
  under_way_.resize(rows());
  for (const auto k : which)
    for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e)
      under_way_[columns.row[e]] +=
          sign * (columns.value.empty() ? 1 : std::fabs(static_cast<double>(columns.value[e])));
}

// What the block's own steps may do to each row's score, and the row's sum of absolute values.
void row_scores::bound_moves(const column_block& columns, span<const double> regions,
                             span<const std::uint32_t> which) {
  std::fill(moves_.begin(), moves_.end(), 0.0);
  if (under_way_.empty())
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
  else
    sizes_ = under_way_;
  const bool ones = columns.value.empty();
  for (const auto k : which) {
    const double region = regions[k];
    for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e) {
      const double x = ones ? 1 : std::fabs(columns.value[e]);
      moves_[columns.row[e]] += region * x;
      sizes_[columns.row[e]] += x;
    }
  }
}

void row_scores::gradient(const column_block& columns, span<const double> regions,
                          span<const std::uint32_t> which, span<double> out) {
  refresh();
  const bool logistic = loss_ == loss_kind::logistic;
  const bool ones = columns.value.empty();
  const auto cap = [&](std::size_t row) { return weights_.empty() ? 0.25 : 0.25 * weights_[row]; };
  if (columns.exclusive && ones && under_way_.empty()) {  // a row moves by its only entry's region
    for (std::size_t n = 0; n < which.size(); ++n) {
      const auto k = which[n];
      const double grows = logistic ? at_least_exp(regions[k]) : 1;
      double g = 0, u = 0;
      for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e) {
        const auto row = columns.row[e];
        const auto& s = slopes_[row];
        g += s.first;
        u += logistic ? std::min(cap(row), s.second * grows) : s.second;
      }
      out[2 * n] = g;
      out[2 * n + 1] = u;
    }
    return;
  }
  bound_moves(columns, regions, which);
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const double h = logistic ? std::min(cap(i), slopes_[i].second * at_least_exp(moves_[i]))
                              : slopes_[i].second;
    bounds_[i] = h * sizes_[i];
  }
  for (std::size_t n = 0; n < which.size(); ++n) {
    const auto k = which[n];
    double g = 0, u = 0;
    for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e) {
      const auto row = columns.row[e];
      const double x = ones ? 1 : columns.value[e];
      g += x * slopes_[row].first;
      u += std::fabs(x) * bounds_[row];
    }
    out[2 * n] = g;
    out[2 * n + 1] = u;
  }
}

}  // namespace troupe
