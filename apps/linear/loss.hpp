#pragma once
// Losses of a linear score s and a label y, and their derivatives by s.
//
//   logistic       log(1 + exp(-y s))      y is -1 or +1
//   squared_hinge  max(0, 1 - y s)^2       y is -1 or +1 (the "L2 loss" of support vector machines)
//   squared        (s - y)^2 / 2           y is any number
//
// The numbers are the same bits on every machine (core/math.hpp).

#include <string>

#include "core/math.hpp"
#include "core/result.hpp"

namespace troupe {

enum class loss_kind { logistic, squared, squared_hinge };

// By the configuration's words; the error names the nearest.
result<loss_kind> loss_of(const std::string& word);
const char* to_string(loss_kind loss);

// Whether labels are two classes, as opposed to numbers.
constexpr bool classifies(loss_kind loss) {
  return loss != loss_kind::squared;
}

struct loss_at {
  double value = 0;
  double slope = 0;  // its derivative by the score
};

inline loss_at logistic_loss(double score, double label) {
  const double margin = label * score;
  const double e = math::exp(margin > 0 ? -margin : margin);  // at most 1
  // 1 / (1 + exp(margin)) without overflow at either end.
  const double wrong = (margin > 0 ? e : 1) / (1 + e);
  return {(margin > 0 ? 0 : -margin) + math::log1p(e), -label * wrong};
}

inline loss_at squared_loss(double score, double label) {
  const double off = score - label;
  return {off * off / 2, off};
}

inline loss_at squared_hinge_loss(double score, double label) {
  const double lacking = 1 - label * score;
  if (lacking <= 0) return {};
  return {lacking * lacking, -2 * label * lacking};
}

// Calls visit(f) with the loss as a function f(score, label) that the compiler can see through.
template <class Visit>
void with_loss(loss_kind loss, Visit visit) {
  switch (loss) {
    case loss_kind::logistic:
      return visit([](double score, double label) { return logistic_loss(score, label); });
    case loss_kind::squared:
      return visit([](double score, double label) { return squared_loss(score, label); });
    case loss_kind::squared_hinge:
      return visit([](double score, double label) { return squared_hinge_loss(score, label); });
  }
}

// For a single row.
inline loss_at evaluate_loss(loss_kind loss, double score, double label) {
  loss_at at;
  with_loss(loss, [&](auto f) { at = f(score, label); });
  return at;
}

}  // namespace troupe
