#pragma once
// Copies between an array of rows, each found by its slot, and rows that follow one another.

#include <cstddef>
#include <cstring>

#include "actors/server/table/row_storage.hpp"

namespace troupe {

// Rows are mostly of a few numbers: copies of known size are single instructions.
template <class T, class Copy>
void for_width(std::size_t width, Copy&& copy) {
  switch (width) {
    case 1:
      return copy([](T* to, const T* from) { *to = *from; });
    case 2:
      return copy([](T* to, const T* from) { std::memcpy(to, from, 2 * sizeof(T)); });
    case 3:
      return copy([](T* to, const T* from) { std::memcpy(to, from, 3 * sizeof(T)); });
    case 4:
      return copy([](T* to, const T* from) { std::memcpy(to, from, 4 * sizeof(T)); });
    default:
      return copy([width](T* to, const T* from) { std::memcpy(to, from, width * sizeof(T)); });
  }
}

// Copies the rows at `slots` out of, or into, an array of rows; absent ones are passed over.
template <class T>
void read_rows(const T* rows, std::size_t width, span<const row_slot> slots, T* out) {
  if (width == 0) return;
  for_width<T>(width, [&](auto copy) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i] != absent_row) copy(out + i * width, rows + slots[i] * width);
  });
}
template <class T>
void write_rows(T* rows, std::size_t width, span<const row_slot> slots, const T* in) {
  if (width == 0) return;
  for_width<T>(width, [&](auto copy) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i] != absent_row) copy(rows + slots[i] * width, in + i * width);
  });
}

}  // namespace troupe
