#pragma once
// How a data set is cut among slots: by row number, in runs whose lengths differ by at most one.
// Neither the files nor the blocks matter. With more slots than rows some parts are empty.

#include <cassert>
#include <cstdint>

#include "core/wide.hpp"

namespace troupe {

struct row_range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // one past the last
  std::uint64_t rows() const { return end - first; }
  friend bool operator==(const row_range& a, const row_range& b) {
    return a.first == b.first && a.end == b.end;
  }
};

constexpr row_range slot_part(std::uint64_t rows, std::uint64_t slots, std::uint64_t slot) {
  assert(slot < slots);
  // floor(rows * slot / slots), in 128 bits.
  return {static_cast<std::uint64_t>(static_cast<uint128>(rows) * slot / slots),
          static_cast<std::uint64_t>(static_cast<uint128>(rows) * (slot + 1) / slots)};
}

}  // namespace troupe
