#pragma once
// Which block a clock works on. A pass visits each block once, in an order drawn from (seed, pass);
// the same clock means the same block to every slot.
//
// Between two visits of a block there are at least `gap` clocks. With a gap above the bound of the
// delay, what a slot reads of a block is what the block's latest visit left, whoever was how fast:
// the next visit cannot have been applied, because the reader has not pushed to it yet. So a run
// with a bounded delay depends on the bound and not on timing.

#include <cstdint>
#include <vector>

namespace troupe {

class block_order {
 public:
  // gap <= blocks; blocks > 0. Without a shuffle every pass goes from the first to the last.
  block_order(std::uint32_t blocks, std::uint32_t gap, std::uint64_t seed, bool shuffled);

  // O(1) in the pass asked for last and the next one; an earlier pass is drawn again from the
  // first.
  std::uint32_t at(std::uint64_t clock);
  std::uint32_t blocks() const { return static_cast<std::uint32_t>(order_.size()); }

 private:
  void draw_next();

  std::uint32_t gap_;
  std::uint64_t seed_;
  bool shuffled_;
  std::uint64_t pass_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace troupe
