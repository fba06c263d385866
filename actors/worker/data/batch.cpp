#include "actors/worker/data/batch.hpp"

#include <algorithm>

namespace troupe {
namespace {

template <class T>
void append(std::vector<T>& into, const std::vector<T>& from, std::size_t begin, std::size_t end) {
  into.insert(into.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
}

// Calls visit(bit number) for each bit set, ascending.
template <class Visit>
void for_each_bit(std::uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) visit(static_cast<std::size_t>(__builtin_ctzll(word)));
}

}  // namespace

void batch_maker::make(const block& from, span<const std::uint32_t> rows, batch& into) {
  const auto words = from.keys.size() / 64 + 1;
  if (seen_.size() < words) {
    seen_.resize(words);
    words_.resize(words / 64 + 1);
    rank_.resize(words * 64);
  }
  gather_rows(from, rows, into);
  mark_columns(into);
  number_columns(from, into);
}

void batch_maker::gather_rows(const block& from, span<const std::uint32_t> rows, batch& into) {
  into.row_begin.assign(1, 0);
  into.column.clear();
  into.value.clear();
  into.field.clear();
  into.label.clear();
  into.weight.clear();
  into.group.clear();
  for (const auto row : rows) {
    const auto begin = from.row_begin[row], end = from.row_begin[row + 1];
    append(into.column, from.column, begin, end);
    if (!from.value.empty()) append(into.value, from.value, begin, end);
    if (!from.field.empty()) append(into.field, from.field, begin, end);
    into.label.push_back(from.label[row]);
    if (!from.weight.empty()) into.weight.push_back(from.weight[row]);
    if (!from.group.empty())
      into.group.push_back(from.has_group[row] ? from.group[row] : batch::no_group);
    into.row_begin.push_back(static_cast<std::uint32_t>(into.column.size()));
  }
}

void batch_maker::mark_columns(const batch& into) {
  for (const auto column : into.column) {
    seen_[column / 64] |= std::uint64_t{1} << (column % 64);
    words_[column / 4096] |= std::uint64_t{1} << (column / 64 % 64);
  }
}

// A block's columns ascend as its keys do, so their ascending order is that of the batch's keys.
void batch_maker::number_columns(const block& from, batch& into) {
  into.keys.clear();
  const auto summaries = from.keys.size() / 4096 + 1;
  for (std::size_t s = 0; s < summaries; ++s) {
    for_each_bit(std::exchange(words_[s], 0), [&](std::size_t w) {
      const auto word = s * 64 + w;
      for_each_bit(std::exchange(seen_[word], 0), [&](std::size_t bit) {
        const auto column = word * 64 + bit;
        rank_[column] = static_cast<std::uint32_t>(into.keys.size());
        into.keys.push_back(from.keys[column]);
      });
    });
  }
  for (auto& column : into.column) column = rank_[column];
}

}  // namespace troupe
