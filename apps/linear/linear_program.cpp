#include "apps/linear/linear_program.hpp"

#include <utility>

namespace troupe {
namespace {

schedule_options options_of(const linear_training& training, std::uint32_t slot) {
  auto options = training.schedule;
  options.slot = slot;
  return options;
}

// Its memory grows with the keys of a block, and is of use only within a call: one to a thread, not
// one to each of a thousand slots.
batch_maker& thread_s_batch_maker() {
  static thread_local batch_maker maker;
  return maker;
}

}  // namespace

minibatch_schedule schedule_for(const linear_training& training, const dataset& data,
                                std::uint32_t slot) {
  const auto options = options_of(training, slot);
  return training.deal_blocks
             ? minibatch_schedule::in_turn(data.blocks(), training.slots, options)
             : minibatch_schedule(data.blocks(), slot_part(data.rows(), training.slots, slot),
                                  options);
}

linear_program::linear_program(const linear_training& training, std::uint32_t slot,
                               std::shared_ptr<block_cache> blocks, meter* work_done)
    : training_(training),
      rows_in_all_(static_cast<double>(training.penalty_rows > 0 ? training.penalty_rows
                                                                 : blocks->data().rows())),
      meter_(work_done),
      schedule_(schedule_for(training, blocks->data(), slot)),
      blocks_(std::move(blocks)) {}

void linear_program::run(slot_session& session, std::uint64_t clock) {
  blocks_.get(session, schedule_.at(clock).block, [this, &session, clock](const block& rows) {
    // Asked again: what it said before the read may be gone.
    thread_s_batch_maker().make(rows, schedule_.at(clock).rows, batch_);
    parameters_.pull(session, training_.model, batch_.keys, [this, &session] { step(session); });
  });
}

void linear_program::step(slot_session& session) {
  const auto& model = training_.model;
  score_rows(batch_, parameters_.weights(), model.weights_are_doubles, parameters_.bias(), scores_);
  const auto sum = losses_of(model, batch_, scores_);
  if (meter_ != nullptr) {
    meter_->add(work::examples, batch_.rows());
    meter_->add(work::features, batch_.entries());
  }

  const double share = static_cast<double>(batch_.rows()) / rows_in_all_;
  session.push(
      weights_table, parameters_.keys(),
      gradient_of(batch_, scores_, training_.weights_scale, model.weights_are_doubles, sums_),
      share * training_.weights_scale);
  if (model.bias) {
    double gradient = 0;
    for (const double slope : scores_) gradient += slope;
    session.push(bias_table, parameters_.bias_keys(),
                 one_value(gradient * training_.bias_scale, model.bias_is_double),
                 share * training_.bias_scale);
  }
  session.end_clock({batch_.rows(), sum.loss, sum.weight});
}

}  // namespace troupe
