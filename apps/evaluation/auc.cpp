#include "apps/evaluation/auc.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace troupe {

std::optional<double> area_under_curve(std::vector<ranked_row>& rows) {
  for (const auto& row : rows)
    if (std::isnan(row.score)) return std::nullopt;
  // Ties are ordered by weight as well, so that their sum has one order only.
  std::sort(rows.begin(), rows.end(), [](const ranked_row& a, const ranked_row& b) {
    return std::tie(a.score, a.positive, a.weight) < std::tie(b.score, b.positive, b.weight);
  });
  double pairs = 0, below = 0, positives = 0;
  for (std::size_t i = 0; i < rows.size();) {
    double tied_positive = 0, tied_negative = 0;
    const double score = rows[i].score;
    for (; i < rows.size() && rows[i].score == score; ++i)
      (rows[i].positive ? tied_positive : tied_negative) += rows[i].weight;
    pairs += tied_positive * (below + tied_negative / 2);
    below += tied_negative;
    positives += tied_positive;
  }
  if (!(positives > 0 && below > 0)) return std::nullopt;
  return pairs / positives / below;
}

}  // namespace troupe
