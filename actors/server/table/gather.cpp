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

// Rows that are merged at once: their lists stay in the processor's own memory.
constexpr std::size_t block_rows = 16384;

// Yields the rows of all inputs block by block, in ascending position, equal ones in the order of
// the inputs.
class merging {
 public:
  explicit merging(const std::vector<gather_input>& inputs)
      : inputs_(inputs), next_(inputs.size(), 0) {}

  // Empty at the end. The rows of one position are never in two blocks.
  const row_list& next_block() {
    rows_.clear();
    borders_ = {0};
    const auto last = last_of_block();
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const auto& at = inputs_[k].positions;
      const auto* end = std::upper_bound(at.begin() + next_[k], at.end(), last);
      for (auto i = next_[k]; at.begin() + i != end; ++i)
        rows_.push_back({at[i], static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)});
      next_[k] = static_cast<std::size_t>(end - at.begin());
      if (rows_.size() > borders_.back()) borders_.push_back(rows_.size());
    }
    merge_runs();
    return rows_;
  }

 private:
  // The input with most rows left says how far a block goes.
  position last_of_block() const {
    std::size_t most = 0, from = 0;
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (const auto left = inputs_[k].positions.size() - next_[k]; left > most) {
        most = left;
        from = k;
      }
    const auto its_rows = block_rows / (inputs_.size() + 1) + 1;
    return most <= its_rows ? ~position{0} : inputs_[from].positions[next_[from] + its_rows];
  }

  // Neighbouring runs pair by pair, until one is left.
  void merge_runs() {
    other_.resize(rows_.size());
    while (borders_.size() > 2) {
      std::vector<std::size_t> wider = {0};
      for (std::size_t r = 0; r + 1 < borders_.size(); r += 2) {
        const auto from = borders_[r], middle = borders_[r + 1];
        const auto end = r + 2 < borders_.size() ? borders_[r + 2] : middle;
        merge(rows_.data() + from, rows_.data() + middle, rows_.data() + middle, rows_.data() + end,
              other_.data() + from);
        wider.push_back(end);
      }
      rows_.swap(other_);
      borders_.swap(wider);
    }
  }

  const std::vector<gather_input>& inputs_;
  std::vector<std::size_t> next_;     // by input
  std::vector<std::size_t> borders_;  // of runs in rows_ that ascend
  row_list rows_, other_;
};

// Appends the sums of a block's rows.
template <class T>
void add_up(const row_list& rows, std::size_t width, const std::vector<gather_input>& inputs,
            double divisor, gathered_rows& out) {
  const auto value = [&](const pushed_row& r) {
    return static_cast<const T*>(inputs[r.input].values) + r.index * width;
  };
  const auto before = out.values.size();
  out.values.resize(before + rows.size() * width * sizeof(T));
  T* const sums = reinterpret_cast<T*>(out.values.data() + before);
  T* sum = sums;
  for (std::size_t i = 0; i < rows.size(); sum += width) {
    const position at = rows[i].at;
    std::copy(value(rows[i]), value(rows[i]) + width, sum);
    for (++i; i < rows.size() && rows[i].at == at; ++i) {
      const T* more = value(rows[i]);
      for (std::size_t j = 0; j < width; ++j) sum[j] += more[j];
    }
    out.positions.push_back(at);
  }
  if (divisor != 1)
    for (T* s = sums; s != sum; ++s) *s /= static_cast<T>(divisor);
  out.values.resize(before + static_cast<std::size_t>(sum - sums) * sizeof(T));
}

template <class T>
gathered_rows gather_typed(std::size_t width, const std::vector<gather_input>& inputs,
                           double divisor) {
  gathered_rows out;
  std::size_t longest = 0;
  for (const auto& input : inputs) longest = std::max(longest, input.positions.size());
  out.positions.reserve(longest);
  out.values.reserve(longest * width * sizeof(T));
  merging rows_of(inputs);
  for (;;) {
    const auto& rows = rows_of.next_block();
    if (rows.empty()) return out;
    add_up<T>(rows, width, inputs, divisor, out);
  }
}

}  // namespace

gathered_rows gather(value_type type, std::size_t width, const std::vector<gather_input>& inputs,
                     double divisor) {
  return type == value_type::f32 ? gather_typed<float>(width, inputs, divisor)
                                 : gather_typed<double>(width, inputs, divisor);
}

}  // namespace troupe
