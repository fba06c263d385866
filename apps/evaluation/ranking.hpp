#pragma once
// Rows of two classes in the order of their scores, and the figures that depend on nothing but that
// order. Exact: rows of equal scores count as tied. Memory: 8 bytes a row, 16 with weights.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe {

class ranking {
 public:
  // Makes room for that many rows of each class.
  void reserve(std::size_t positives, std::size_t negatives);
  // A weight is at least 0. The figures do not depend on the order in which rows are added.
  void add(double score, bool positive, double weight);

  // The area under the ROC curve: the probability that a positive row scores above a negative one,
  // ties counted half (the Mann-Whitney statistic with midranks), each pair weighted by the product
  // of its rows' weights.
  std::optional<double> area_under_roc();
  // The area under the curve of precision over recall, as average precision: the sum over the
  // different scores, from above, of the recall that each adds times the precision down to it.
  std::optional<double> average_precision();

 private:
  struct side {
    std::vector<double> score;
    std::vector<double> weight;  // empty: all 1
    void add(double row_score, double row_weight);
    void sort();
    double total() const;
  };
  bool ready();
  template <class Visit>
  void from_above(Visit visit) const;

  side positive_, negative_;
  bool sorted_ = false, not_a_number_ = false;
};

}  // namespace troupe
