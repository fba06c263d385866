#include "apps/linear/block_cache.hpp"

namespace troupe {
namespace {

template <class T>
std::uint64_t bytes_of(const std::vector<T>& items) {
  return items.capacity() * sizeof(T);
}

std::uint64_t size_of(const block& rows) {
  return bytes_of(rows.keys) + bytes_of(rows.row_begin) + bytes_of(rows.column) +
         bytes_of(rows.value) + bytes_of(rows.field) + bytes_of(rows.label) +
         bytes_of(rows.weight) + bytes_of(rows.has_group) + bytes_of(rows.group) +
         bytes_of(rows.has_id) + bytes_of(rows.id_begin) + rows.id_text.capacity();
}

}  // namespace

std::shared_ptr<const block> block_cache::find(std::size_t index) {
  std::lock_guard guard(mutex_);
  const auto found = by_index_.find(index);
  if (found == by_index_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->rows;
}

result<std::shared_ptr<const block>> block_cache::load(std::size_t index) {
  if (auto rows = find(index)) return rows;
  auto rows = data_->load_block(index);  // two that miss it at once both read it, which is harmless
  if (rows) keep(index, *rows);
  return rows;
}

void block_cache::keep(std::size_t index, const std::shared_ptr<const block>& rows) {
  std::lock_guard guard(mutex_);
  if (by_index_.count(index) > 0) return;
  by_use_.push_front({index, rows, size_of(*rows)});
  by_index_[index] = by_use_.begin();
  bytes_ += by_use_.front().bytes;
  while (bytes_ > most_bytes_ && by_use_.size() > 1) {
    bytes_ -= by_use_.back().bytes;
    by_index_.erase(by_use_.back().index);
    by_use_.pop_back();
  }
}

}  // namespace troupe
