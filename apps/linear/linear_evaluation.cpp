#include "apps/linear/linear_evaluation.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "apps/evaluation/metric_set.hpp"
#include "apps/linear/arithmetic.hpp"
#include "core/text.hpp"

namespace troupe {
void make_consecutive(batch_maker& maker, const block& from, std::uint64_t first, std::uint64_t end,
                      batch& into) {
  std::vector<std::uint32_t> rows(end - first);
  std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first - from.first_row));
  maker.make(from, rows, into);
}

std::size_t block_of(const std::vector<block_place>& blocks, std::uint64_t row) {
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), row,
                       [](std::uint64_t r, const block_place& b) { return r < b.first_row; });
  return static_cast<std::size_t>(after - blocks.begin()) - 1;
}

result<std::unique_ptr<linear_evaluation>> linear_evaluation::make(
    const linear_model& model, const std::string& data_set, std::uint32_t part, std::uint32_t parts,
    std::shared_ptr<block_cache> blocks, meter* work_done) {
  const auto rows = slot_part(blocks->data().rows(), parts, part);
  const auto columns = blocks->data().facts().has_groups ? columns_with_groups : columns_of_scores;
  const auto score_bytes = columns * sizeof(double);
  if (rows.rows() > blob::max_size / score_bytes)
    return error{errc::bad_config,
                 format("the %s data have %llu rows to a slot, and at most %llu can be evaluated; "
                        "raise cluster.slots",
                        data_set.c_str(), static_cast<unsigned long long>(rows.rows()),
                        static_cast<unsigned long long>(blob::max_size / score_bytes))};
  pb::EvaluatedPart outcome;
  outcome.set_data_set(data_set);
  outcome.set_part(part);
  outcome.set_rows(rows.rows());
  outcome.set_columns(columns);
  return std::unique_ptr<linear_evaluation>(
      new linear_evaluation(model, rows, std::move(outcome), std::move(blocks), work_done));
}

linear_evaluation::linear_evaluation(const linear_model& model, row_range rows,
                                     pb::EvaluatedPart outcome, std::shared_ptr<block_cache> blocks,
                                     meter* work_done)
    : model_(model),
      rows_(rows),
      outcome_(std::move(outcome)),
      cache_(blocks),
      blocks_(std::move(blocks)),
      meter_(work_done),
      columns_(outcome_.columns()),
      offset_(outcome_.data_set() == "train" ? 0 : model.score_offset) {}

void linear_evaluation::run(session& session, on_scored done) {
  done_ = std::move(done);
  auto [bytes, writable] = blob::uninitialised(rows_.rows() * columns_ * sizeof(double));
  scores_ = std::move(bytes);
  out_ = reinterpret_cast<double*>(writable);
  next_batch(session);
}

void linear_evaluation::next_batch(session& session) {
  if (rows_.rows() == 0) {
    outcome_.set_done(true);
    if (sums_only_) outcome_.set_columns(metric_set::columns_of_sums);
    return done_(std::move(outcome_), sums_only_ ? blob{} : std::move(scores_));
  }
  const auto index = block_of(cache_->data().blocks(), rows_.first);
  blocks_.get(session, index, [this, &session](const block& rows) {
    const auto end = std::min({rows_.end, rows.first_row + rows.rows(), rows_.first + batch_rows});
    make_consecutive(maker_, rows, rows_.first, end, batch_);
    rows_.first = end;
    parameters_.pull(session, model_, batch_.keys, [this, &session] { score(session); });
  });
}

void linear_evaluation::score(session& session) {
  score_rows(batch_, parameters_.weights(), model_.weights_are_doubles, parameters_.bias(),
             margins_);
  const auto sum = write_scores(model_, batch_, margins_, offset_, columns_, out_);
  out_ += batch_.rows() * columns_;
  outcome_.set_loss(outcome_.loss() + sum.loss);
  outcome_.set_weight(outcome_.weight() + sum.weight);
  if (meter_ != nullptr) {
    meter_->add(work::examples, batch_.rows());
    meter_->add(work::features, batch_.entries());
  }
  next_batch(session);
}

}  // namespace troupe
