#pragma once
// The area under the ROC curve, exact: the probability that a positive row scores above a negative
// one, ties counted half (the Mann-Whitney statistic with midranks), each pair weighted by the
// product of its rows' weights.

#include <optional>
#include <vector>

namespace troupe {

struct ranked_row {
  double score = 0;
  double weight = 0;  // at least 0
  bool positive = false;
};

// Sorts the rows. None where one of the classes has no weight, or a score is not a number.
// O(n log n); the result does not depend on the order given.
std::optional<double> area_under_curve(std::vector<ranked_row>& rows);

}  // namespace troupe
