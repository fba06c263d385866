#pragma once
// What a linear model is, apart from its numbers: score(x) = <weights, x> + bias. Its tables are
// "weights", one value to a feature's key, and, if it has a bias, "bias" with the single key 0.

#include <cstddef>

#include "apps/linear/label_map.hpp"
#include "apps/linear/loss.hpp"
#include "messages/keys.hpp"

namespace troupe {

constexpr std::size_t weights_table = 0;
constexpr std::size_t bias_table = 1;
constexpr key_id bias_key = 0;

struct linear_model {
  loss_kind loss = loss_kind::logistic;
  label_map labels;
  bool bias = true;
  bool weights_are_doubles = false;  // f64, else f32
  bool bias_is_double = false;
  // What the rows of a class count, on top of their own weights. Where labels are classes.
  double negative_weight = 1, positive_weight = 1;
  // Added to the scores of all rows but the training's: the logarithm of the share of negative
  // training rows that was kept, by which the odds learned from them are too large.
  double score_offset = 0;

  double row_weight(double own, double mapped_label) const {
    return labels.maps() ? own * (mapped_label > 0 ? positive_weight : negative_weight) : own;
  }
};

}  // namespace troupe
