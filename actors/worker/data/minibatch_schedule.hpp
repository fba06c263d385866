#pragma once
// Which rows a slot trains on at each of its clocks: a pure function of the blocks' borders, the
// slot's part, the options and the clock, so that a slot goes on at any clock, in whichever
// process, without replaying what came before.
//
// The slot's part is a run of rows, cut by the blocks into *pieces*, or whole blocks. An epoch
// visits the pieces one after the other and cuts each into minibatches; the last of a piece may be
// smaller, and no minibatch spans two pieces, so its rows come from one block. Shuffled, each epoch
// orders the pieces, and the rows within each piece, by (seed, slot, epoch). Rows are mixed no
// further than their piece: data sorted by label is better shuffled beforehand. Every epoch has
// every row once.
//
// Memory: 32 bytes a piece and 4 bytes a row of the largest. A step to the next clock costs
// O(minibatch), the first one in a piece O(rows of the piece), the first one in an epoch O(pieces).
// Not thread-safe.

#include <cstdint>
#include <vector>

#include "actors/worker/data/cache_file.hpp"
#include "actors/worker/data/slots.hpp"
#include "core/span.hpp"

namespace troupe {

struct schedule_options {
  std::uint64_t seed = 0;
  std::uint64_t slot = 0;
  std::uint64_t epochs = 1;
  std::uint64_t rows = 100;  // of a minibatch, at least 1
  bool shuffle = true;
};

struct minibatch {
  std::uint64_t epoch = 0;
  std::size_t block = 0;           // of the data set
  span<const std::uint32_t> rows;  // of that block; valid until the schedule's next call
};

class minibatch_schedule {
 public:
  minibatch_schedule(span<const block_place> blocks, row_range part, schedule_options options);

  // The slot's part is every block whose number is the slot's, modulo `slots`: with further rows
  // behind them, the clocks of what there was stay the same.
  static minibatch_schedule in_turn(span<const block_place> blocks, std::uint64_t slots,
                                    schedule_options options);

  std::uint64_t clocks() const { return clocks_per_epoch_ * options_.epochs; }
  std::uint64_t clocks_per_epoch() const { return clocks_per_epoch_; }
  minibatch at(std::uint64_t clock);  // clock < clocks()
  // Rows of all clocks below `clock`, epochs counted; clock <= clocks(). O(pieces).
  std::uint64_t rows_before(std::uint64_t clock);

 private:
  struct piece {
    std::size_t block;
    std::uint32_t first_row;  // of the block
    std::uint32_t rows;
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  explicit minibatch_schedule(schedule_options options);
  void add(piece one);
  std::uint64_t clocks_of(const piece& one) const;
  void enter_epoch(std::uint64_t epoch);
  void enter_piece(std::size_t number);

  schedule_options options_;
  std::vector<piece> pieces_;  // in row order
  std::uint64_t clocks_per_epoch_ = 0;
  std::uint64_t rows_per_epoch_ = 0;
  // The epoch under way: its order of the pieces, and the clock within it at which each begins.
  std::uint64_t epoch_ = none;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> begin_;
  // The piece under way, as a number in `pieces_`, and its rows in the order of this epoch.
  std::uint64_t current_ = none;
  std::vector<std::uint32_t> rows_;
};

}  // namespace troupe
