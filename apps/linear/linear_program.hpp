#pragma once
// One slot's share of training a linear model. A clock is a minibatch: pull what its rows touch,
// compute scores, losses and the gradient, push.
//
// What is pushed to a table is the gradient of the sum of the minibatch's weighted losses, times
// the table's `gradient_scale`; the share pushed with it is scaled alike, so that penalties keep
// their proportion to the losses (docs/training.md).

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/worker/data/batch.hpp"
#include "actors/worker/data/minibatch_schedule.hpp"
#include "actors/worker/program.hpp"
#include "apps/linear/arithmetic.hpp"
#include "apps/linear/block_reader.hpp"
#include "apps/linear/linear_model.hpp"
#include "apps/linear/parameters.hpp"
#include "core/meter.hpp"

namespace troupe {

struct linear_training {
  linear_model model;
  schedule_options schedule;  // its slot is set for each program
  std::uint32_t slots = 1;
  double weights_scale = 1;  // gradient_scale of the tables
  double bias_scale = 1;
  std::uint64_t penalty_rows = 0;  // that an epoch's penalties are spread over; 0: all rows
  bool deal_blocks = false;        // slots take blocks in turn, and not a run of rows each
};

// When a slot trains on which rows.
minibatch_schedule schedule_for(const linear_training& training, const dataset& data,
                                std::uint32_t slot);

class linear_program final : public slot_program {
 public:
  // `work_done` may be null, else it outlives the program.
  linear_program(const linear_training& training, std::uint32_t slot,
                 std::shared_ptr<block_cache> blocks, meter* work_done);

  std::uint64_t clocks() const override { return schedule_.clocks(); }
  std::uint64_t examples_before(std::uint64_t clock) const override {
    return schedule_.rows_before(clock);
  }
  void run(slot_session& session, std::uint64_t clock) override;

 private:
  void step(slot_session& session);

  const linear_training training_;
  const double rows_in_all_;
  meter* const meter_;
  mutable minibatch_schedule schedule_;  // remembers where it was asked last; its answers do not
  block_reader blocks_;

  // The clock under way, and memory that is used from clock to clock.
  batch batch_;
  parameters parameters_;
  std::vector<double> scores_, sums_;
};

}  // namespace troupe
