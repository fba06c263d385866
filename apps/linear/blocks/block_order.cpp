#include "apps/linear/blocks/block_order.hpp"

#include <cassert>
#include <numeric>

#include "core/random.hpp"

namespace troupe {
namespace {

enum : std::uint64_t { purpose = 0x626c6f636b73 };  // tells these draws from others of the seed

}  // namespace

block_order::block_order(std::uint32_t blocks, std::uint32_t gap, std::uint64_t seed, bool shuffled)
    : gap_(gap), seed_(seed), shuffled_(shuffled), order_(blocks) {
  assert(blocks > 0 && gap <= blocks);
  std::iota(order_.begin(), order_.end(), 0u);
  random_source random(seed_of(seed_, purpose, 0));
  if (shuffled_) shuffle(order_.begin(), order_.end(), random);
}

// Place i takes one, at random, of the blocks that stood at place i + blocks - gap or before in the
// pass that ends, and are not taken: there is one at least.
void block_order::draw_next() {
  ++pass_;
  if (!shuffled_) return;
  random_source random(seed_of(seed_, purpose, pass_));
  const auto n = order_.size();
  std::vector<std::uint32_t> next, free;
  next.reserve(n);
  std::size_t offered = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (; offered < n && offered + gap_ <= i + n; ++offered) free.push_back(order_[offered]);
    const auto drawn = random.below(free.size());
    next.push_back(free[drawn]);
    free[drawn] = free.back();
    free.pop_back();
  }
  order_ = std::move(next);
}

std::uint32_t block_order::at(std::uint64_t clock) {
  const auto pass = clock / order_.size();
  if (pass < pass_) *this = block_order(blocks(), gap_, seed_, shuffled_);
  while (pass_ < pass) draw_next();
  return order_[clock % order_.size()];
}

}  // namespace troupe
