#pragma once
// What the labels of a data set mean to a loss. Losses that classify know -1 and +1; files write
// two classes as -1/+1, 0/1 or 1/2. Which labels there are is a fact of the whole training set, so
// every slot, the test set and a saved model map them alike. The squared loss takes labels as they
// are, but if the training set has exactly two, they count as classes where accuracy and AUC are
// asked for.

#include <optional>
#include <string>

#include "actors/worker/data/facts.hpp"
#include "apps/linear/loss.hpp"
#include "core/result.hpp"

namespace troupe {

struct label_classes {
  double negative = 0;
  double positive = 1;
};

class label_map {
 public:
  label_map() = default;
  // As saved with a model.
  label_map(bool maps, std::optional<double> negative, std::optional<double> positive)
      : maps_(maps), negative_(negative), positive_(positive) {}

  // `positive` is a label as the data write it, or "auto": the larger of the two, or the one that
  // is not `negative`; a single label is then the positive one if it is above 0. Where both are
  // named, the data need not have both. Other labels for a loss that classifies are an error that
  // names them.
  static result<label_map> make(loss_kind loss, const std::string& positive,
                                const data_facts& train, const std::string& negative = "auto");

  // The label as the loss wants it. Needs check() of the label's data set.
  double operator()(double label) const {
    if (!maps_) return label;
    return positive_ && label == *positive_ ? 1 : -1;
  }
  // Whether a data set has labels that the training set did not have; `name` is for the error.
  result<void> check(const data_facts& facts, const std::string& name) const;

  // The two classes among mapped labels, if there are two.
  std::optional<label_classes> classes() const;

  bool maps() const { return maps_; }
  const std::optional<double>& negative() const { return negative_; }
  const std::optional<double>& positive() const { return positive_; }

 private:
  bool maps_ = false;
  std::optional<double> negative_, positive_;  // as the data write them
};

}  // namespace troupe
