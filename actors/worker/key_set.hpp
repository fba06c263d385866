#pragma once
// A caller's keys made ready to travel: ascending ring positions without repetition, and how to get
// from them back to the caller's order. Make it once and use it for the pull and for the push that
// answers it.

#include <cstdint>
#include <vector>

#include "core/blob.hpp"
#include "core/result.hpp"
#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

class key_set {
 public:
  key_set() = default;

  // Any order, repetitions allowed. Keys outside a range partitioning's bounds are an error that
  // names the first. O(n) when the positions are ascending already, else a radix sort.
  static result<key_set> of(const partitioning& how, span<const key_id> keys);

  // Positions that ascend already: the caller's order is theirs.
  static key_set of_positions(blob ascending) {
    key_set made;
    made.asked_ = ascending.size() / sizeof(position);
    made.positions_ = std::move(ascending);
    return made;
  }

  std::size_t asked() const { return asked_; }  // number of the caller's keys
  std::size_t size() const { return positions_.as<position>().size(); }  // of distinct ones
  span<const position> positions() const { return positions_.as<position>(); }
  const blob& bytes() const { return positions_; }
  bool repeats() const { return size() != asked_; }
  // Place in positions() of the caller's i-th key; empty when the caller's order is that of the
  // positions.
  const std::vector<std::uint32_t>& places() const { return places_; }

  // Rows of `row_bytes` bytes in position order, as the caller ordered its keys.
  blob to_caller_order(const blob& rows, std::size_t row_bytes) const;
  // The caller's rows in position order; rows of repeated keys are added in the caller's order. T
  // is float or double.
  template <class T>
  blob to_position_order(const blob& rows, std::size_t width) const;

 private:
  blob positions_;
  std::vector<std::uint32_t> places_;
  std::size_t asked_ = 0;
};

}  // namespace troupe
