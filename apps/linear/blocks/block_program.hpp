#pragma once
// One slot's share of delayed block proximal gradient: Li et al., "Scaling distributed machine
// learning with the parameter server" (OSDI 2014), section 5.1, and "Communication efficient
// distributed machine learning with the parameter server" (NIPS 2014), algorithm 3.
//
// A clock is a block (block_order). The slot brings its scores up to what the clocks below
// `clock - delay` did: it pulls the one block that became due since the clock before. Then it
// computes the block's gradient and curvature bound over its rows and pushes them; the servers add
// up all slots' and take the proximal step (actors/server/functions/block_proximal.cpp). The bound
// of the delay is the job's staleness: the pull waits for whoever is behind.
//
// A slot that is taken over pulls the whole model once and adds its scores up anew, which gives the
// same numbers (row_scores.hpp).
//
// Values at rest (the negative zero, see block_proximal) are left out of gradients, pushes and
// pulls while the job's stage says so.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/worker/program.hpp"
#include "apps/linear/blocks/block_order.hpp"
#include "apps/linear/blocks/column_file.hpp"
#include "apps/linear/blocks/row_scores.hpp"
#include "apps/linear/linear_model.hpp"
#include "core/meter.hpp"

namespace troupe {

struct block_training {
  linear_model model;
  std::uint32_t feature_blocks = 1;  // a bias is one block more
  std::uint64_t passes = 1;
  std::uint64_t delay = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  std::uint32_t slots = 1;
  double first_region = 0.1;  // of values that were never stepped, as block_proximal has it

  std::uint32_t blocks() const { return feature_blocks + (model.bias ? 1 : 0); }
};

class block_program final : public slot_program {
 public:
  // Makes or opens the slot's columns; called in the background.
  using opening = std::function<result<std::shared_ptr<column_file>>()>;

  // `rows` of the slot. `work_done` may be null, else it outlives the program.
  block_program(const block_training& training, std::uint64_t rows, opening open, meter* work_done);

  std::uint64_t clocks() const override { return training_.passes * training_.blocks(); }
  std::uint64_t examples_before(std::uint64_t clock) const override {
    return clock / training_.blocks() * rows_;
  }
  void run(slot_session& session, std::uint64_t clock) override;

 private:
  // What is known of a block's values, as they were pulled last.
  struct block_values {
    std::vector<double> value, region;
    std::vector<std::uint8_t> rests;
    std::optional<key_set> keys;  // of all its columns
  };
  // What a clock has pushed, to be pulled when it is due.
  struct visit {
    std::uint64_t clock = 0;
    std::vector<std::uint32_t> which;
    key_set keys;
  };
  using columns = std::shared_ptr<const column_block>;

  std::size_t table_of(std::uint32_t b) const;
  bool doubles(std::uint32_t b) const;
  void with_columns(slot_session& session, std::uint32_t b, std::function<void(columns)> then);
  bool prepare(slot_session& session, std::uint32_t b, const column_block& of);
  void open(slot_session& session, std::uint64_t clock);
  void pull_all(slot_session& session, std::uint64_t clock);
  void pull(slot_session& session, std::uint32_t b, columns of, visit what,
            std::function<void()> then);
  void take(std::uint32_t b, const column_block& of, const std::vector<std::uint32_t>& which,
            const blob& rows);
  void step(slot_session& session, std::uint64_t clock);

  const block_training training_;
  const std::uint64_t rows_;
  const opening open_;
  meter* const meter_;
  block_order order_;
  std::shared_ptr<column_file> columns_;  // null until it is open
  std::optional<row_scores> scores_;      // with it
  std::vector<block_values> known_;       // by block
  columns bias_column_;
  std::deque<visit> visits_;  // that are not taken in yet, the earliest first
  bool begun_ = false;
  std::uint32_t awaited_ = 0;  // at the beginning: blocks whose values have not come
  std::vector<double> numbers_;
};

}  // namespace troupe
