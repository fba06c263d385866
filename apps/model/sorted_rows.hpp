#pragma once
// All rows of a table by ascending key, as exports write them and imports read them. 16 bytes a row
// beside the rows themselves while they are sorted.

#include <cstddef>
#include <functional>
#include <vector>

#include "actors/server/table/table.hpp"
#include "core/result.hpp"

namespace troupe {

struct sorted_rows {
  std::vector<key_id> keys;       // ascending
  std::vector<std::byte> values;  // width numbers of the table's type to a key
  std::vector<std::byte> state;   // state_numbers of them to a key, or empty
  std::size_t state_numbers = 0;  // to a key
};

// `weights_only`: without state, and, where keys without a row are zero, without rows of nothing
// but zeros.
sorted_rows rows_of(const table& t, bool weights_only);

// Calls visit(key, pointer to the row's values) for all rows, in the order of positions.
void for_each_row(const table& t, const std::function<void(key_id, const std::byte*)>& visit);

// Number `index` of a row of values or of state.
double number_at(value_type type, const std::byte* row, std::size_t index);

// A table of the rows, for saving. Errors name the table and what does not fit.
result<std::shared_ptr<table>> table_of(const table_spec& spec, std::uint64_t seed,
                                        const sorted_rows& rows);

}  // namespace troupe
