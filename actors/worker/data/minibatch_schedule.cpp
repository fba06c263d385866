#include "actors/worker/data/minibatch_schedule.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/random.hpp"

namespace troupe {

minibatch_schedule::minibatch_schedule(schedule_options options) : options_(options) {
  assert(options_.rows > 0);
}

void minibatch_schedule::add(piece one) {
  clocks_per_epoch_ += clocks_of(one);
  rows_per_epoch_ += one.rows;
  pieces_.push_back(one);
}

minibatch_schedule minibatch_schedule::in_turn(span<const block_place> blocks, std::uint64_t slots,
                                               schedule_options options) {
  minibatch_schedule made(options);
  for (std::size_t i = options.slot; i < blocks.size(); i += slots)
    made.add({i, 0, static_cast<std::uint32_t>(blocks[i].rows)});
  return made;
}

minibatch_schedule::minibatch_schedule(span<const block_place> blocks, row_range part,
                                       schedule_options options)
    : minibatch_schedule(options) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto first = std::max(part.first, blocks[i].first_row);
    const auto end = std::min(part.end, blocks[i].first_row + blocks[i].rows);
    if (first >= end) continue;
    add({i, static_cast<std::uint32_t>(first - blocks[i].first_row),
         static_cast<std::uint32_t>(end - first)});
  }
}

std::uint64_t minibatch_schedule::clocks_of(const piece& one) const {
  return (one.rows - 1) / options_.rows + 1;
}

minibatch minibatch_schedule::at(std::uint64_t clock) {
  assert(clock < clocks());
  enter_epoch(clock / clocks_per_epoch_);
  const auto within = clock % clocks_per_epoch_;
  const auto next = std::upper_bound(begin_.begin(), begin_.end(), within);
  const auto place = static_cast<std::size_t>(next - begin_.begin()) - 1;
  enter_piece(order_[place]);
  const auto from = (within - begin_[place]) * options_.rows;
  const auto count = std::min<std::uint64_t>(options_.rows, rows_.size() - from);
  return {epoch_, pieces_[current_].block, span<const std::uint32_t>(rows_).subspan(from, count)};
}

std::uint64_t minibatch_schedule::rows_before(std::uint64_t clock) {
  if (clocks_per_epoch_ == 0) return 0;
  const auto epoch = clock / clocks_per_epoch_, within = clock % clocks_per_epoch_;
  auto rows = epoch * rows_per_epoch_;
  if (within == 0) return rows;
  enter_epoch(epoch);
  for (std::size_t place = 0; place < order_.size() && begin_[place] < within; ++place)
    rows += std::min<std::uint64_t>(pieces_[order_[place]].rows,
                                    (within - begin_[place]) * options_.rows);
  return rows;
}

void minibatch_schedule::enter_epoch(std::uint64_t epoch) {
  if (epoch_ == epoch) return;
  epoch_ = epoch;
  current_ = none;
  order_.resize(pieces_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  if (options_.shuffle) {
    random_source random(seed_of(options_.seed, options_.slot, epoch));
    shuffle(order_.begin(), order_.end(), random);
  }
  begin_.resize(pieces_.size());
  std::uint64_t clock = 0;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    begin_[place] = clock;
    clock += clocks_of(pieces_[order_[place]]);
  }
}

void minibatch_schedule::enter_piece(std::size_t number) {
  if (current_ == number) return;
  current_ = number;
  rows_.resize(pieces_[number].rows);
  std::iota(rows_.begin(), rows_.end(), pieces_[number].first_row);
  if (!options_.shuffle) return;
  // Seeded by the piece too, so that entering it needs no other piece's random numbers.
  random_source random(seed_of(options_.seed, options_.slot, epoch_, number));
  shuffle(rows_.begin(), rows_.end(), random);
}

}  // namespace troupe
