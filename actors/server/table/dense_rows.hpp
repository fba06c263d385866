#pragma once
// Rows of a range-partitioned table that all exist: plain arrays by rank. A position that no key
// has is `no_such_row`.

#include <vector>

#include "actors/server/table/growing_memory.hpp"
#include "actors/server/table/row_storage.hpp"

namespace troupe {

class dense_rows final : public row_storage {
 public:
  // All bytes are zero at first. Throws std::bad_alloc when there are too many rows.
  dense_rows(closed_range range, const partitioning& keys, row_bytes sizes);

  void locate(span<const position> positions, row_slot* slots) const override;
  // Nothing is ever absent.
  void insert(span<const position>, const std::byte*, const std::byte*) override {}
  void list(closed_range within, std::size_t limit, std::vector<placed_row>& rows) const override;

  std::byte* values() const override { return static_cast<std::byte*>(values_.data()); }
  std::byte* state() const override { return static_cast<std::byte*>(state_.data()); }
  std::size_t rows() const override { return rows_; }
  std::size_t live_bytes() const override { return values_.size() + state_.size() + sizeof *this; }

 private:
  const partitioning keys_;
  std::uint64_t first_rank_ = 0;
  std::size_t rows_ = 0;
  growing_memory values_, state_;
};

}  // namespace troupe
