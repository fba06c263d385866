#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "actors/worker/data/minibatch_schedule.hpp"
#include "core/random.hpp"

using namespace troupe;

namespace {

std::vector<block_place> blocks_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<block_place> blocks;
  std::uint64_t row = 0;
  for (const auto size : sizes) {
    block_place place;
    place.first_row = row;
    place.rows = size;
    blocks.push_back(place);
    row += size;
  }
  return blocks;
}

// A minibatch as rows of the data set.
std::vector<std::uint64_t> rows_of(const std::vector<block_place>& blocks, const minibatch& one) {
  std::vector<std::uint64_t> rows;
  for (const auto row : one.rows) rows.push_back(blocks[one.block].first_row + row);
  return rows;
}

}  // namespace

TEST_CASE("slots' parts follow one another, cover all rows, and differ by at most one row") {
  CHECK(rc::check([](std::uint64_t rows) {
    const auto slots = *rc::gen::inRange<std::uint64_t>(1, 50);
    std::uint64_t next = 0;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      const auto part = slot_part(rows, slots, slot);
      RC_ASSERT(part.first == next);
      RC_ASSERT((part.rows() == rows / slots || part.rows() == rows / slots + 1));
      next = part.end;
    }
    RC_ASSERT(next == rows);
  }));
}

TEST_CASE("with more slots than rows some parts are empty and have no clocks") {
  const auto blocks = blocks_of({3});
  std::uint64_t clocks = 0;
  for (std::uint64_t slot = 0; slot < 5; ++slot) {
    schedule_options options;
    options.slot = slot;
    minibatch_schedule schedule(blocks, slot_part(3, 5, slot), options);
    CHECK(schedule.clocks() <= 1);
    clocks += schedule.clocks();
  }
  CHECK(clocks == 3);
  CHECK(minibatch_schedule({}, {0, 0}, {}).clocks() == 0);
}

TEST_CASE("every epoch of a slot has every row of its part exactly once") {
  CHECK(rc::check([](std::uint64_t seed, bool shuffle) {
    random_source random(seed);
    std::vector<std::uint64_t> sizes(random.below(6));
    std::uint64_t total = 0;
    for (auto& size : sizes) total += size = 1 + random.below(40);
    const auto blocks = blocks_of(sizes);
    const auto slots = 1 + random.below(4);
    schedule_options options{seed, random.below(slots), 3, 1 + random.below(15), shuffle};
    const auto part = slot_part(total, slots, options.slot);
    minibatch_schedule schedule(blocks, part, options);
    std::vector<std::uint64_t> seen[3];
    for (std::uint64_t clock = 0; clock < schedule.clocks(); ++clock) {
      const auto one = schedule.at(clock);
      RC_ASSERT(one.epoch == clock / schedule.clocks_per_epoch());
      RC_ASSERT(!one.rows.empty());
      RC_ASSERT(one.rows.size() <= options.rows);
      for (const auto row : rows_of(blocks, one)) seen[one.epoch].push_back(row);
    }
    for (auto& rows : seen) {
      if (shuffle) std::sort(rows.begin(), rows.end());
      RC_ASSERT(rows.size() == part.rows());
      for (std::size_t i = 0; i < rows.size(); ++i) RC_ASSERT(rows[i] == part.first + i);
    }
  }));
}

TEST_CASE("a schedule entered at any clock goes on as one that began at the start") {
  const auto blocks = blocks_of({20, 35, 1, 50});
  const schedule_options options{42, 1, 4, 8, true};
  minibatch_schedule straight(blocks, {5, 100}, options);
  std::vector<std::vector<std::uint64_t>> expected;
  for (std::uint64_t clock = 0; clock < straight.clocks(); ++clock)
    expected.push_back(rows_of(blocks, straight.at(clock)));
  minibatch_schedule jumping(blocks, {5, 100}, options);
  for (std::uint64_t i = 0; i < straight.clocks(); ++i) {
    const auto clock = i * 17 % straight.clocks();
    CHECK(rows_of(blocks, jumping.at(clock)) == expected[clock]);
  }
}

TEST_CASE("shuffling differs by epoch, slot and seed") {
  const auto blocks = blocks_of({1000});
  const auto first = [&](std::uint64_t seed, std::uint64_t slot, std::uint64_t epoch) {
    minibatch_schedule schedule(blocks, {0, 1000}, {seed, slot, 2, 1000, true});
    return rows_of(blocks, schedule.at(epoch));
  };
  CHECK(first(1, 0, 0) == first(1, 0, 0));
  CHECK(first(1, 0, 0) != first(1, 0, 1));
  CHECK(first(1, 0, 0) != first(1, 1, 0));
  CHECK(first(1, 0, 0) != first(2, 0, 0));
}

TEST_CASE("the rows before a clock are those of all minibatches before it") {
  const auto blocks = blocks_of({20, 7, 31, 1, 40});
  for (const auto part : {row_range{0, 99}, row_range{5, 60}, row_range{8, 8}}) {
    const schedule_options options{9, 2, 3, 6, true};
    minibatch_schedule schedule(blocks, part, options), asked(blocks, part, options);
    std::uint64_t rows = 0;
    for (std::uint64_t clock = 0; clock < schedule.clocks(); ++clock) {
      CHECK(asked.rows_before(clock) == rows);
      rows += schedule.at(clock).rows.size();
    }
    CHECK(asked.rows_before(schedule.clocks()) == rows);
    CHECK(rows == 3 * part.rows());
  }
}

TEST_CASE("slots that take blocks in turn have every row once, and further rows change no clock") {
  schedule_options options;
  options.epochs = 1;
  options.rows = 7;
  options.shuffle = false;
  const auto equal_blocks = [](std::size_t count) {
    std::vector<block_place> blocks(count);
    for (std::size_t i = 0; i < count; ++i) {
      blocks[i].first_row = i * 20;
      blocks[i].rows = 20;
    }
    return blocks;
  };
  const auto short_set = equal_blocks(6), long_set = equal_blocks(11);
  std::map<std::pair<std::size_t, std::uint32_t>, int> seen;
  for (options.slot = 0; options.slot < 3; ++options.slot) {
    auto one = minibatch_schedule::in_turn(short_set, 3, options);
    auto more = minibatch_schedule::in_turn(long_set, 3, options);
    CHECK(one.clocks() == 6);  // two blocks of three minibatches
    for (std::uint64_t clock = 0; clock < one.clocks(); ++clock) {
      const auto now = one.at(clock), later = more.at(clock);
      CHECK(now.block == later.block);
      CHECK(std::equal(now.rows.begin(), now.rows.end(), later.rows.begin(), later.rows.end()));
      for (const auto row : now.rows) ++seen[{now.block, row}];
    }
  }
  CHECK(seen.size() == 120);
  for (const auto& [row, times] : seen) CHECK(times == 1);
  CHECK(minibatch_schedule::in_turn(equal_blocks(2), 3, options).clocks() ==
        0);  // slot 3 of 2 blocks
}
