#include "actors/worker/data/block_builder.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

void block_builder::start(std::uint64_t first_row) {
  now_ = block{};
  now_.first_row = first_row;
  now_.row_begin.push_back(0);
  now_.column.reserve(usual_entries_);
  bytes_ = 0;
  index_.assign(std::max<std::size_t>(index_.size(), 1024), entry{});
  positions_.clear();
}

void block_builder::add(const example& row) {
  assert(!full());
  for (const auto& one : row.features) {
    put_value(one.value);
    put_field(one.field);
    now_.column.push_back(number_of(mix(one.key)));
  }
  put_weight(row.weight);
  put_group(row);
  put_id(row);
  now_.label.push_back(row.label);
  now_.row_begin.push_back(static_cast<std::uint32_t>(now_.column.size()));
  bytes_ += 32 + 20 * row.features.size() + (row.id ? row.id->size() : 0);
}

// What a block may omit begins with the first row or feature that needs it, and is filled up for
// those before.
void block_builder::put_value(float value) {
  if (now_.value.empty() && value == 1) return;
  now_.value.resize(now_.column.size(), 1.0f);
  now_.value.push_back(value);
}

void block_builder::put_field(std::uint32_t field) {
  if (now_.field.empty() && field == 0) return;
  now_.field.resize(now_.column.size());
  now_.field.push_back(field);
}

void block_builder::put_weight(double weight) {
  if (now_.weight.empty() && weight == 1) return;
  now_.weight.resize(now_.rows(), 1.0);
  now_.weight.push_back(weight);
}

void block_builder::put_group(const example& row) {
  if (now_.group.empty() && !row.group) return;
  now_.group.resize(now_.rows());
  now_.has_group.resize(now_.rows());
  now_.group.push_back(row.group.value_or(0));
  now_.has_group.push_back(row.group ? 1 : 0);
}

void block_builder::put_id(const example& row) {
  if (now_.has_id.empty() && !row.id) return;
  now_.has_id.resize(now_.rows());
  now_.id_begin.resize(now_.rows() + 1);
  now_.has_id.push_back(row.id ? 1 : 0);
  if (row.id) now_.id_text += *row.id;
  now_.id_begin.push_back(now_.id_text.size());
}

std::uint32_t block_builder::number_of(position at) {
  if (2 * (positions_.size() + 1) > index_.size()) grow();
  const auto mask = index_.size() - 1;
  auto slot = at & mask;
  while (index_[slot].number_plus_one != 0) {
    if (index_[slot].at == at) return index_[slot].number_plus_one - 1;
    slot = (slot + 1) & mask;
  }
  positions_.push_back(at);
  index_[slot] = {at, static_cast<std::uint32_t>(positions_.size())};
  return static_cast<std::uint32_t>(positions_.size() - 1);
}

void block_builder::grow() {
  const auto old = std::exchange(index_, std::vector<entry>(2 * index_.size()));
  const auto mask = index_.size() - 1;
  for (const auto& one : old) {
    if (one.number_plus_one == 0) continue;
    auto slot = one.at & mask;
    while (index_[slot].number_plus_one != 0) slot = (slot + 1) & mask;
    index_[slot] = one;
  }
}

block block_builder::finish() {
  const auto column_of = sort_keys();
  for (auto& column : now_.column) column = column_of[column];
  for (std::size_t row = 0; row < now_.rows(); ++row) sort_row(row);
  usual_entries_ = now_.entries();
  const auto next_row = now_.first_row + now_.rows();
  block finished = std::move(now_);
  start(next_row);
  return finished;
}

// Fills the block's keys; returns the column of each number.
std::vector<std::uint32_t> block_builder::sort_keys() {
  std::vector<std::pair<position, std::uint32_t>> sorted;
  sorted.reserve(positions_.size());
  for (std::uint32_t number = 0; number < positions_.size(); ++number)
    sorted.emplace_back(positions_[number], number);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint32_t> column_of(sorted.size());
  now_.keys.reserve(sorted.size());
  for (const auto& [at, number] : sorted) {
    column_of[number] = static_cast<std::uint32_t>(now_.keys.size());
    now_.keys.push_back(unmix(at));
  }
  return column_of;
}

void block_builder::sort_row(std::size_t row) {
  const auto begin = now_.row_begin[row], end = now_.row_begin[row + 1];
  if (now_.value.empty() && now_.field.empty()) {
    std::sort(now_.column.begin() + begin, now_.column.begin() + end);
    return;
  }
  order_.clear();  // column, then place within the row
  for (auto e = begin; e < end; ++e)
    order_.push_back(std::uint64_t{now_.column[e]} << 32 | (e - begin));
  std::sort(order_.begin(), order_.end());
  for (auto e = begin; e < end; ++e)
    now_.column[e] = static_cast<std::uint32_t>(order_[e - begin] >> 32);
  reorder(now_.value, begin, value_);
  reorder(now_.field, begin, field_);
}

// Puts the row's items, which begin at `begin`, in the order of `order_`.
template <class T>
void block_builder::reorder(std::vector<T>& items, std::size_t begin, std::vector<T>& scratch) {
  if (items.empty()) return;
  const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
  scratch.assign(first, first + static_cast<std::ptrdiff_t>(order_.size()));
  for (std::size_t i = 0; i < order_.size(); ++i)
    items[begin + i] = scratch[static_cast<std::uint32_t>(order_[i])];
}

}  // namespace troupe
