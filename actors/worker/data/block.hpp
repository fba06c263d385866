#pragma once
// Consecutive rows of a data set, localised: features are numbered by a `column` into the block's
// own sorted list of keys, so that minibatches are cut from it with small integers alone. A
// compressed sparse row matrix with its names.
//
//   rows()   R      row r has the entries [row_begin[r], row_begin[r + 1])
//   keys     K      the distinct keys, ascending by mix(key)
//   entries  E      column[e] < K, ascending within a row (twice: two fields, or a collision)

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worker/data/example.hpp"
#include "core/bytes.hpp"
#include "core/span.hpp"

namespace troupe {

struct block {
  std::uint64_t first_row = 0;           // of the data set
  std::vector<key_id> keys;              // K
  std::vector<std::uint32_t> row_begin;  // R + 1
  std::vector<std::uint32_t> column;     // E
  std::vector<float> value;              // E, or empty: all 1
  std::vector<std::uint32_t> field;      // E, or empty: all 0
  std::vector<double> label;             // R
  std::vector<double> weight;            // R, or empty: all 1
  std::vector<std::uint8_t> has_group;   // R, or empty: no row has one
  std::vector<std::uint64_t> group;      // as has_group
  std::vector<std::uint8_t> has_id;      // R, or empty: no row has one
  std::vector<std::uint64_t> id_begin;   // R + 1, or empty
  std::string id_text;                   // all ids, one behind the other

  std::size_t rows() const { return label.size(); }
  std::size_t entries() const { return column.size(); }
  std::optional<std::string_view> id(std::size_t row) const {
    if (has_id.empty() || !has_id[row]) return std::nullopt;
    return std::string_view(id_text).substr(id_begin[row], id_begin[row + 1] - id_begin[row]);
  }
  // The row as a reader yields it, features ascending by column.
  example row(std::size_t row) const;
};

// The block as bytes, and back. Nothing in the bytes is trusted: what breaks a promise above is no
// block.
void encode(const block& rows, byte_writer& out);
std::optional<block> decode_block(span<const std::byte> bytes);

}  // namespace troupe
