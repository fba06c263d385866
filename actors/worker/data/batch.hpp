#pragma once
// What one step of training works on: some rows of a block with the keys that they touch, ready to
// be pulled.
//
//   keys     K     distinct, ascending by mix(key): the order in which servers hold them
//   rows()   R     in the order asked for; row r has the entries [row_begin[r], row_begin[r + 1])
//   column   E     of each entry: the index of its key in `keys`, ascending within a row

#include <cstdint>
#include <vector>

#include "actors/worker/data/block.hpp"
#include "core/span.hpp"

namespace troupe {

struct batch {
  std::vector<key_id> keys;              // K
  std::vector<std::uint32_t> row_begin;  // R + 1
  std::vector<std::uint32_t> column;     // E
  std::vector<float> value;              // E, or empty: all 1
  std::vector<std::uint32_t> field;      // E, or empty: all 0
  std::vector<double> label;             // R
  std::vector<double> weight;            // R, or empty: all 1
  std::vector<std::uint64_t> group;      // R, or empty; rows without one have batch::no_group

  static constexpr std::uint64_t no_group = ~std::uint64_t{0};

  std::size_t rows() const { return label.size(); }
  std::size_t entries() const { return column.size(); }
};

// Cuts batches from blocks, in O(entries) and without touching a 64-bit key but to copy it. Keeps
// its working memory and that of the batch from call to call. Not thread-safe.
class batch_maker {
 public:
  void make(const block& from, span<const std::uint32_t> rows, batch& into);

 private:
  void gather_rows(const block& from, span<const std::uint32_t> rows, batch& into);
  void mark_columns(const batch& into);
  void number_columns(const block& from, batch& into);

  // The columns seen, as a bitmap of 64-bit words, and a bitmap of the words that are not zero. All
  // zero between calls.
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> rank_;  // of a column seen: its index in `keys`
};

}  // namespace troupe
