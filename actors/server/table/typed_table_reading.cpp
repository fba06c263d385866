// What a table answers: rows by position, rows of a range, and what is in all of them.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "actors/server/table/row_copying.hpp"
#include "actors/server/table/typed_table.hpp"

namespace troupe {
namespace {

constexpr std::size_t pull_rows = 512;

}  // namespace

template <class T>
result<void> typed_table<T>::pull(span<const position> positions, void* out,
                                  const overwritten* before) const {
  if (auto read = copy_out(positions, out, nullptr, nullptr); !read) return read;
  if (before) before->restore(positions, width_ * sizeof(T), static_cast<std::byte*>(out));
  return {};
}

template <class T>
result<void> typed_table<T>::pull_shown(span<const position> positions, void* out,
                                        const overwritten* before) const {
  std::vector<T> values(positions.size() * width_), state(positions.size() * state_width_);
  if (auto read = copy_out(positions, values.data(), state.data(), nullptr); !read) return read;
  if (before) {
    before->restore(positions, width_ * sizeof(T), reinterpret_cast<std::byte*>(values.data()));
    before->restore_state(positions, state_width_ * sizeof(T),
                          reinterpret_cast<std::byte*>(state.data()));
  }
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    to = std::copy_n(values.data() + i * width_, width_, to);
    to = std::copy_n(state.data() + i * state_width_, shown_width_, to);
  }
  return {};
}

template <class T>
result<void> typed_table<T>::copy_out(span<const position> positions, void* values, void* state,
                                      std::vector<std::uint32_t>* absent) const {
  auto parts = parts_of(positions);
  if (!parts) return parts.failure();
  row_slot slots[pull_rows];
  for (const auto& p : *parts)
    for (std::size_t from = p.from; from < p.from + p.count; from += pull_rows) {
      const auto at = positions.subspan(from, std::min(pull_rows, p.from + p.count - from));
      if (auto known = locate(p, at, slots); !known) return known;
      T* to = static_cast<T*>(values) + from * width_;
      read_rows(values_of(*p.rows, 0), width_, {slots, at.size()}, to);
      T* state_to = state ? static_cast<T*>(state) + from * state_width_ : nullptr;
      if (state_to) read_rows(state_of(*p.rows, 0), state_width_, {slots, at.size()}, state_to);
      if (std::find(slots, slots + at.size(), absent_row) == slots + at.size()) continue;
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (slots[i] != absent_row) continue;
        init_.fill(spec_.keys.key_at(at[i]), to + i * width_, width_);
        if (state_to) std::fill_n(state_to + i * state_width_, state_width_, T(0));
        if (absent) absent->push_back(static_cast<std::uint32_t>(from + i));
      }
    }
  return {};
}

template <class T>
table_rows typed_table<T>::read_range(closed_range range, std::uint64_t limit,
                                      bool with_state) const {
  table_rows out;
  std::vector<placed_row> placed;
  const auto one_more = limit + (limit < ~std::uint64_t{0} ? 1 : 0);
  const auto append = [&](std::vector<std::byte>& to, const std::byte* from, std::size_t size) {
    to.insert(to.end(), from, from + size);
  };
  for (const auto& piece : pieces_) {
    const auto before = placed.size();
    piece->list(range, one_more, placed);
    for (auto i = before; i < placed.size(); ++i) {
      if (i == limit) {
        out.next = placed[i].at;
        return out;
      }
      const auto slot = placed[i].slot;
      out.positions.push_back(placed[i].at);
      append(out.values, reinterpret_cast<const std::byte*>(values_of(*piece, slot)),
             width_ * sizeof(T));
      if (with_state && state_width_ > 0)
        append(out.state, reinterpret_cast<const std::byte*>(state_of(*piece, slot)),
               state_width_ * sizeof(T));
    }
  }
  return out;
}

template <class T>
std::optional<double> typed_table<T>::largest_state() const {
  if (!largest_) return std::nullopt;
  double most = 0;
  for (closed_range rest = all_keys;;) {
    const auto rows = read_range(rest, rows_for_reading(), true);
    const auto* state = reinterpret_cast<const T*>(rows.state.data());
    for (std::size_t i = 0; i < rows.positions.size(); ++i)
      for (std::size_t j = 0; j < width_; ++j) {
        const T one = state[i * state_width_ + *largest_ * width_ + j];
        most = std::max(most, static_cast<double>(std::fabs(one)));
      }
    if (!rows.next) return most;
    rest.first = *rows.next;
  }
}

template <class T>
std::size_t typed_table<T>::rows() const {
  std::size_t all = 0;
  for (const auto& piece : pieces_) all += piece->rows();
  return all;
}

template <class T>
std::size_t typed_table<T>::live_bytes() const {
  std::size_t all = 0;
  for (const auto& piece : pieces_) all += piece->live_bytes();
  return all;
}

// Class by class would define the members of the other file twice.
#define TROUPE_READING_OF(T)                                                                  \
  template result<void> typed_table<T>::pull(span<const position>, void*, const overwritten*) \
      const;                                                                                  \
  template result<void> typed_table<T>::pull_shown(span<const position>, void*,               \
                                                   const overwritten*) const;                 \
  template result<void> typed_table<T>::copy_out(span<const position>, void*, void*,          \
                                                 std::vector<std::uint32_t>*) const;          \
  template table_rows typed_table<T>::read_range(closed_range, std::uint64_t, bool) const;    \
  template std::optional<double> typed_table<T>::largest_state() const;                       \
  template std::size_t typed_table<T>::rows() const;                                          \
  template std::size_t typed_table<T>::live_bytes() const;
TROUPE_READING_OF(float)
TROUPE_READING_OF(double)
#undef TROUPE_READING_OF

}  // namespace troupe
