#pragma once
// The arithmetic of a linear model on a batch. All sums are in f64, over rows in their order and
// over a row's features by ascending column, whatever the type of the tables, so a row's score does
// not depend on the batch that it comes in.

#include <cstdint>
#include <vector>

#include "actors/worker/data/batch.hpp"
#include "apps/linear/linear_model.hpp"
#include "core/blob.hpp"
#include "core/span.hpp"

namespace troupe {

// scores[r] = bias + sum over the entries of row r of weight * value. `weights` holds one f32 (or,
// with `doubles`, f64) to each key of the batch.
void score_rows(const batch& rows, const blob& weights, bool doubles, double bias,
                std::vector<double>& scores);

struct batch_loss {
  double loss = 0;    // sum of weighted losses
  double weight = 0;  // sum of weights
};

// Adds up the losses, and puts in the place of each score what its row contributes to the gradient:
// weight * derivative.
batch_loss losses_of(const linear_model& model, const batch& rows, std::vector<double>& scores);

// The gradient of the batch's loss by each of its keys, times `scale`, as f32 or f64. `slopes` are
// those of losses_of(); `sums` is working memory.
blob gradient_of(const batch& rows, span<const double> slopes, double scale, bool doubles,
                 std::vector<double>& sums);

// One number as a row of a table, and back.
blob one_value(double value, bool doubles);
double first_value(const blob& values, bool doubles);

// (score, label, weight) to each row, as evaluations hand them on, and with 4 columns the bits of
// its group; `out` has room for `columns` numbers a row. `offset` is added to the scores.
constexpr std::uint32_t columns_of_scores = 3, columns_with_groups = 4;
batch_loss write_scores(const linear_model& model, const batch& rows, span<const double> scores,
                        double offset, std::uint32_t columns, double* out);

}  // namespace troupe
