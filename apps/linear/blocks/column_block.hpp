#pragma once
// One block of features of a slot's rows, by column: what a step of a block-coordinate solver
// reads.
//
//   keys     K       the features that occur, ascending by mix(key): the order of servers
//   begin    K + 1   column k has the entries [begin[k], begin[k + 1])
//   row      E       of each entry, from 0 among the slot's rows, ascending within a column
//   value    E       or empty: all 1
//
// A row that has a feature twice has one entry with the sum. As bytes, row numbers are the distance
// from the one before in the column, in as few bytes as it needs (LEB128), and values f32.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct column_block {
  std::vector<key_id> keys;
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> row;
  std::vector<float> value;
  bool exclusive = true;  // no row has two entries

  std::size_t columns() const { return keys.size(); }
  std::size_t entries() const { return row.size(); }
  std::size_t bytes() const {
    return 12 * keys.size() + 4 * row.size() + 4 * value.size() + sizeof *this;
  }
};

void encode(const column_block& columns, byte_writer& out);
// Nothing in the bytes is trusted; `rows` bounds the row numbers.
std::optional<column_block> decode_columns(span<const std::byte> bytes, std::uint64_t rows);

}  // namespace troupe
