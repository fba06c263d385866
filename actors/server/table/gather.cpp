#include "actors/server/table/gather.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe {
namespace {

// One pushed row: which input it is in, and where.
struct pushed_row {
  position at;
  std::uint32_t input, index;
};
using row_list = std::vector<pushed_row>;

// Stable: among equal positions those of `a`, the earlier inputs, come first. The choice is data,
// not a branch, since it cannot be guessed.
pushed_row* merge(const pushed_row* a, const pushed_row* a_end, const pushed_row* b,
                  const pushed_row* b_end, pushed_row* out) {
  while (a != a_end && b != b_end) {
    const bool right = b->at < a->at;
    *out++ = *(right ? b : a);
    b += right;
    a += !right;
  }
  out = std::copy(a, a_end, out);
  return std::copy(b, b_end, out);
}

// All rows in ascending position, equal ones in the order of the inputs.
row_list merged(const std::vector<gather_input>& inputs) {
  row_list rows;
  std::vector<std::size_t> borders = {0};  // of runs that ascend
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& positions = inputs[k].positions;
    for (std::size_t i = 0; i < positions.size(); ++i)
      rows.push_back({positions[i], static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)});
    borders.push_back(rows.size());
  }
  row_list other(borders.size() > 2 ? rows.size() : 0);
  while (borders.size() > 2) {
    std::vector<std::size_t> wider = {0};
    for (std::size_t r = 0; r + 1 < borders.size(); r += 2) {
      const auto from = borders[r], middle = borders[r + 1];
      const auto end = r + 2 < borders.size() ? borders[r + 2] : middle;
      merge(rows.data() + from, rows.data() + middle, rows.data() + middle, rows.data() + end,
            other.data() + from);
      wider.push_back(end);
    }
    rows.swap(other);
    borders.swap(wider);
  }
  return rows;
}

template <class T>
gathered_rows gather_typed(std::size_t width, const std::vector<gather_input>& inputs,
                           double divisor) {
  const auto rows = merged(inputs);
  gathered_rows out;
  out.positions.reserve(rows.size());
  out.values.resize(rows.size() * width * sizeof(T));
  T* sums = reinterpret_cast<T*>(out.values.data());
  T* sum = sums;
  for (std::size_t i = 0; i < rows.size();) {
    const auto value = [&](const pushed_row& r) {
      return static_cast<const T*>(inputs[r.input].values) + r.index * width;
    };
    const position at = rows[i].at;
    std::copy(value(rows[i]), value(rows[i]) + width, sum);
    for (++i; i < rows.size() && rows[i].at == at; ++i) {
      const T* more = value(rows[i]);
      for (std::size_t j = 0; j < width; ++j) sum[j] += more[j];
    }
    out.positions.push_back(at);
    sum += width;
  }
  if (divisor != 1)
    for (T* s = sums; s != sum; ++s) *s /= static_cast<T>(divisor);
  out.values.resize(static_cast<std::size_t>(sum - sums) * sizeof(T));
  return out;
}

}  // namespace

gathered_rows gather(value_type type, std::size_t width, const std::vector<gather_input>& inputs,
                     double divisor) {
  return type == value_type::f32 ? gather_typed<float>(width, inputs, divisor)
                                 : gather_typed<double>(width, inputs, divisor);
}

}  // namespace troupe
