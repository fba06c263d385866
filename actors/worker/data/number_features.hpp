#pragma once
// What a number in a column becomes (docs/data.md, "Numbers").

#include <charconv>
#include <cmath>
#include <string_view>

#include "actors/worker/data/row_reader.hpp"
#include "core/math.hpp"

namespace troupe {

// Adds the feature of `number`, which is finite; false: its value is beyond a 32-bit float.
inline bool add_number(double number, const namespace_of_names& column, key_id own_key,
                       std::uint32_t field, number_form form, example& into) {
  if (form == number_form::buckets) {
    // "2", or "l12" above 2. A double's shortest form has at most 24 characters.
    char name[32];
    char* end = name;
    const bool large = number > 2;
    if (large) *end++ = 'l';
    const double log = large ? math::log1p(number - 1) : 0;
    const double bucket = std::floor(large ? log * log : number);
    end = std::to_chars(end, name + sizeof name, bucket).ptr;
    const std::string_view text(name, static_cast<std::size_t>(end - name));
    into.features.push_back({column.key_of(text), 1, field});
    return true;
  }
  if (form == number_form::log) number = number < 0 ? -math::log1p(-number) : math::log1p(number);
  const auto value = static_cast<float>(number);
  if (!std::isfinite(value)) return false;
  if (value != 0) into.features.push_back({own_key, value, field});
  return true;
}

}  // namespace troupe
