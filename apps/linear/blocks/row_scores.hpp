#pragma once
// The scores of a slot's rows under a model that changes block by block, and what a step of a block
// needs of them.
//
// Scores are sums of fixed-point numbers (64 bits, 2^-32 apart), so that a score that was carried
// along is the same number as one that is added up anew, in any order: a slot that is taken over
// continues with the bits of the one before. An entry's part of a score is clamped to 2^24.
//
// For a block the gradient is that of the sum of the rows' weighted losses. The curvature bound is
// diagonal: with |x| the absolute values of the block's entries in row i, moving every value j by
// at most region[j] changes the loss by no more than the quadratic with
//     u[j] = sum_i h_i |x_ij| (sum_k |x_ik|)
// where h_i bounds the second derivative of row i's loss while its score moves by at most
// sum_k region[k] |x_ik|. (A sum of k terms is squared: the factor in brackets. For the logistic
// loss h is p(1-p) e^move, and at most 1/4: Genkin, Lewis and Madigan 2007, section 3.2.)
//
// Steps of other blocks that are on their way, unknown to the gradient, move the same rows: their
// entries join the factor in brackets. So a delay costs little where rows have few features in
// common with what is under way, and steps shrink, rather than swing, where they have many.

#include <cstdint>
#include <vector>

#include "apps/linear/blocks/column_block.hpp"
#include "apps/linear/loss.hpp"
#include "core/span.hpp"

namespace troupe {

class row_scores {
 public:
  // `labels` as the loss wants them; `weights`, one to each row, may be empty: all 1.
  row_scores(loss_kind loss, std::vector<double> labels, std::vector<double> weights);

  std::size_t rows() const { return labels_.size(); }
  // All scores are those of the zero model.
  void clear();
  // A block's values become others.
  void move(const column_block& columns, span<const double> from, span<const double> to);
  double score(std::size_t row) const;

  // Steps of these columns are on their way, and have come.
  void depart(const column_block& columns, const std::vector<std::uint32_t>& which) {
    add_under_way(columns, which, 1);
  }
  void arrive(const column_block& columns, const std::vector<std::uint32_t>& which) {
    add_under_way(columns, which, -1);
  }

  // For the columns that `which` names (ascending; empty: none), g and u side by side.
  void gradient(const column_block& columns, span<const double> regions,
                span<const std::uint32_t> which, span<double> out);

 private:
  struct slope {
    double first = 0;   // derivative of the row's weighted loss by its score
    double second = 0;  // and the second
  };
  void refresh();
  void add_under_way(const column_block& columns, const std::vector<std::uint32_t>& which,
                     double sign);
  void bound_moves(const column_block& columns, span<const double> regions,
                   span<const std::uint32_t> which);

  const loss_kind loss_;
  const std::vector<double> labels_, weights_;
  std::vector<std::int64_t> scores_;
  std::vector<slope> slopes_;
  std::vector<std::uint8_t> moved_;  // since its slopes were worked out
  bool any_moved_ = true;
  std::vector<std::uint32_t> stale_;
  std::vector<double> wrong_;      // of stale rows
  std::vector<double> under_way_;  // of each row: sum of absolute values; empty: never any
  std::vector<double> moves_, sizes_, bounds_;  // of rows, while a gradient is computed
};

}  // namespace troupe
