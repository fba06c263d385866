#include "actors/server/table/dense_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace troupe {

dense_rows::dense_rows(closed_range range, const partitioning& keys, row_bytes sizes)
    : row_storage(range), keys_(keys) {
  assert(!keys.hashes());
  const auto first = keys.first_rank_from(range.first);
  if (!first || keys.position_of(keys.bounds().first + *first) > range.last) return;
  first_rank_ = *first;
  const auto last = keys.key_at(range.last) - keys.bounds().first;
  if (last - first_rank_ >= most_slots) throw std::bad_alloc();
  rows_ = static_cast<std::size_t>(last - first_rank_) + 1;
  values_.resize(rows_ * sizes.values);
  state_.resize(rows_ * sizes.state);
  std::memset(values_.data(), 0, values_.size());
  if (state_.size() > 0) std::memset(state_.data(), 0, state_.size());
}

void dense_rows::locate(span<const position> positions, row_slot* slots) const {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const position p = positions[i];
    const key_id key = keys_.key_at(p);
    // A key stands at the first position that leads to it.
    const bool exact = p == 0 || keys_.key_at(p - 1) != key;
    slots[i] =
        exact ? static_cast<row_slot>(key - keys_.bounds().first - first_rank_) : no_such_row;
  }
}

void dense_rows::list(closed_range within, std::size_t limit, std::vector<placed_row>& rows) const {
  const closed_range wanted{std::max(within.first, range().first),
                            std::min(within.last, range().last)};
  if (wanted.first > wanted.last || rows_ == 0) return;
  const auto first = keys_.first_rank_from(wanted.first);
  if (!first) return;
  for (auto slot = *first - first_rank_; slot < rows_ && rows.size() < limit; ++slot) {
    const auto at = keys_.position_of(keys_.bounds().first + first_rank_ + slot);
    if (at > wanted.last) return;
    rows.push_back({at, static_cast<row_slot>(slot)});
  }
}

}  // namespace troupe
