#pragma once
// One part of a data set, scored with the model as it is. A score is the raw margin
// <weights, x> + bias; labels are as the loss wants them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/worker/data/batch.hpp"
#include "actors/worker/data/slots.hpp"
#include "actors/worker/program.hpp"
#include "apps/linear/block_reader.hpp"
#include "apps/linear/linear_model.hpp"
#include "apps/linear/parameters.hpp"
#include "core/meter.hpp"

namespace troupe {

class linear_evaluation final : public evaluation_program {
 public:
  static constexpr std::uint64_t batch_rows =
      4096;  // scored together: bounds what is pulled at once

  // An error when the part's scores would not fit a blob.
  static result<std::unique_ptr<linear_evaluation>> make(const linear_model& model,
                                                         const std::string& data_set,
                                                         std::uint32_t part, std::uint32_t parts,
                                                         std::shared_ptr<block_cache> blocks,
                                                         meter* work_done);

  // The loss and the weight alone are wanted.
  void answer_sums_only() { sums_only_ = true; }
  void run(session& session, on_scored done) override;

 private:
  linear_evaluation(const linear_model& model, row_range rows, pb::EvaluatedPart outcome,
                    std::shared_ptr<block_cache> blocks, meter* work_done);
  void next_batch(session& session);
  void score(session& session);

  const linear_model model_;
  row_range rows_;  // still to be scored
  pb::EvaluatedPart outcome_;
  const std::shared_ptr<block_cache> cache_;
  block_reader blocks_;
  meter* const meter_;
  const std::uint32_t columns_;
  const double offset_;
  on_scored done_;

  blob scores_;
  bool sums_only_ = false;
  double* out_ = nullptr;  // where the next row's score goes

  batch_maker maker_;
  batch batch_;
  parameters parameters_;
  std::vector<double> margins_;
};

// The rows [first, end) of a block as a batch, cut at batch_rows; shared with the scoring of saved
// models.
void make_consecutive(batch_maker& maker, const block& from, std::uint64_t first, std::uint64_t end,
                      batch& into);
// The block that has the row.
std::size_t block_of(const std::vector<block_place>& blocks, std::uint64_t row);

}  // namespace troupe
