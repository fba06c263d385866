#pragma once
// What a server does with pushed values: a function that turns old rows and what was pushed to them
// into new rows. Gradient updaters, counters and user functions are all of this kind.
//
// A function sees a block of rows as contiguous arrays, one virtual call for some hundred rows. It
// works on copies: when it throws a std::exception, or leaves a value or a state that is not
// finite, the whole push is refused and no row changes. It must give the same bits whatever the
// block's size, since blocks are cut differently by every sharding.

#include <cstddef>
#include <cstdint>

#include "core/span.hpp"

namespace troupe {

struct step {
  double rate = 0;   // the schedule's rate at the push's clock
  double share = 1;  // fraction of the training data that the push stands for: penalties are
                     // applied in this proportion
  span<const double> told = {};  // what came with the push, beside its values
};

// The state that a function keeps beside each row, all zero at first.
struct state_layout {
  std::uint32_t per_value = 0;  // arrays with one number for each value
  std::uint32_t per_row = 0;    // arrays with one number for each row
  std::size_t width(std::size_t values) const { return per_value * values + per_row; }
};

template <class T>
struct row_block {
  std::size_t rows = 0;
  std::size_t width = 1;  // values of a row
  T* values =
      nullptr;  // rows * width, in: the old values (initial ones for new rows), out: the new ones
  const T* pushed = nullptr;      // rows * width * what the function's entry pushes for each value
  T* const* per_value = nullptr;  // state arrays of rows * width
  T* const* per_row = nullptr;    // state arrays of rows
  std::size_t size() const { return rows * width; }
};

template <class T>
class server_function {
 public:
  virtual ~server_function() = default;
  virtual void apply(const row_block<T>& block, const step& now) = 0;
};

}  // namespace troupe
