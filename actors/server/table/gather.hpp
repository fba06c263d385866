#pragma once
// Adds up the pushes of one clock. Sums go in the order of the inputs, whatever the number of
// servers, so they have the same bits everywhere.

#include <cstddef>
#include <vector>

#include "actors/server/table/table_spec.hpp"
#include "core/span.hpp"

namespace troupe {

struct gather_input {
  span<const position> positions;  // strictly ascending
  const void* values = nullptr;    // positions * width
};

struct gathered_rows {
  std::vector<position> positions;  // the union, ascending
  std::vector<std::byte> values;    // sums divided by the divisor
};

gathered_rows gather(value_type type, std::size_t width, const std::vector<gather_input>& inputs,
                     double divisor);

}  // namespace troupe
