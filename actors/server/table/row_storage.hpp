#pragma once
// The rows of one stretch of the ring, found by position and kept in arrays by slot: values at slot
// * value_bytes, state at slot * state_bytes. Slots hold until the next insert.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

using row_slot = std::uint32_t;
constexpr row_slot absent_row = ~row_slot{0};     // may be inserted
constexpr row_slot no_such_row = absent_row - 1;  // cannot exist
constexpr std::uint64_t most_slots = absent_row - 64;

struct row_bytes {
  std::size_t values = 4;
  std::size_t state = 0;
};

struct placed_row {
  position at;
  row_slot slot;
};

class row_storage {
 public:
  explicit row_storage(closed_range range) : range_(range) {}
  virtual ~row_storage() = default;
  closed_range range() const { return range_; }

  // All positions lie in range().
  virtual void locate(span<const position> positions, row_slot* slots) const = 0;
  // Positions strictly ascending, all absent.
  virtual void insert(span<const position> positions, const std::byte* values,
                      const std::byte* state) = 0;
  // Appends the rows in `within`, ascending, until `rows` holds `limit`.
  virtual void list(closed_range within, std::size_t limit,
                    std::vector<placed_row>& rows) const = 0;

  virtual std::byte* values() const = 0;
  virtual std::byte* state() const = 0;
  virtual std::size_t rows() const = 0;
  virtual std::size_t live_bytes() const = 0;

 private:
  const closed_range range_;
};

}  // namespace troupe
