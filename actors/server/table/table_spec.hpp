#pragma once
// What a table is: said once in the plan of a job, the same at every server.

#include <cstddef>
#include <cstdint>
#include <string>

#include "actors/server/functions/function_spec.hpp"
#include "messages/keys.hpp"

namespace troupe {

enum class value_type { f32, f64 };
enum class table_kind {
  sparse,  // rows exist from their first push on
  dense,   // all rows of a range exist
};
// What becomes of the slots' pushes of one clock.
enum class combine { sum, mean, each };

constexpr std::size_t bytes_of(value_type type) {
  return type == value_type::f32 ? 4 : 8;
}

// The value of a row that nobody pushed to, a function of (seed, table, key, index) alone.
struct initialiser_spec {
  enum class kind { zero, constant, uniform, normal };
  kind how = kind::zero;
  double a = 0;  // constant: the value; uniform: the lower end; normal: the mean
  double b = 0;  // uniform: the upper end; normal: the standard deviation
};

struct table_spec {
  static constexpr std::uint32_t max_width = 1u << 20;

  std::string name;
  table_kind kind = table_kind::sparse;
  value_type type = value_type::f32;
  std::uint32_t width = 1;  // values of a key
  partitioning keys = partitioning::by_hash();
  combine how = combine::each;
  function_spec function;
  initialiser_spec init;

  std::size_t row_bytes() const { return width * bytes_of(type); }
};

}  // namespace troupe
