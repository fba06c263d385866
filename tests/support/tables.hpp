#pragma once
// Tables for tests, and server functions as a user would write them.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/server/functions/function_registry.hpp"
#include "actors/server/table/table.hpp"

namespace troupe::testing {

// A user's own function: keeps the largest value ever pushed to a key.
template <class T>
class largest final : public server_function<T> {
 public:
  explicit largest(const function_numbers&) {}
  void apply(const row_block<T>& b, const step&) override {
    for (std::size_t i = 0; i < b.size(); ++i) b.values[i] = std::max(b.values[i], b.pushed[i]);
  }
};

// Adds, counts its steps by row, and throws when the number `at` is pushed.
template <class T>
class thrower final : public server_function<T> {
 public:
  explicit thrower(const function_numbers& numbers) : at_(static_cast<T>(numbers.at("at"))) {}
  void apply(const row_block<T>& b, const step&) override {
    for (std::size_t row = 0; row < b.rows; ++row) {
      b.per_row[0][row] += 1;
      for (std::size_t i = row * b.width; i < (row + 1) * b.width; ++i) {
        if (b.pushed[i] == at_) throw std::runtime_error("cannot take this number");
        b.values[i] += b.pushed[i];
        b.per_value[0][i] += b.pushed[i] * 2;
      }
    }
  }

 private:
  const T at_;
};

inline void register_test_functions() {
  static const bool once = [] {
    (void)function_registry::global().add(entry_of<largest>("largest"));
    auto throws = entry_of<thrower>("thrower");
    throws.parameters = {{"at", 666, -1e9, 1e9}};
    throws.state.per_value = 1;
    throws.state.per_row = 1;
    (void)function_registry::global().add(throws);
    return true;
  }();
  (void)once;
}

inline table_spec spec_of(const std::string& function, std::uint32_t width = 1,
                          value_type type = value_type::f32) {
  register_test_functions();
  table_spec spec;
  spec.name = "weights";
  spec.type = type;
  spec.width = width;
  spec.function.name = function;
  return spec;
}

// With the segments given, or the whole ring.
inline std::unique_ptr<table> table_of(const table_spec& spec,
                                       const std::vector<closed_range>& segments = {all_keys},
                                       std::uint64_t seed = 7) {
  auto made = table::make(spec, seed);
  if (!made) FAIL(made.failure().text);
  for (const auto& s : segments) REQUIRE((*made)->add_segment(s));
  return std::move(*made);
}

template <class T>
std::vector<T> pulled(const table& t, const std::vector<position>& positions,
                      const overwritten* before = nullptr) {
  std::vector<T> values(positions.size() * t.spec().width);
  const auto done = t.pull(positions, values.data(), before);
  if (!done) FAIL(done.failure().text);
  return values;
}

template <class T>
result<void> pushed(table& t, const std::vector<position>& positions, const std::vector<T>& values,
                    step_context context = {}, overwritten* keep = nullptr) {
  REQUIRE(values.size() == positions.size() * t.spec().width);
  return t.apply(positions, values.data(), context, keep);
}

}  // namespace troupe::testing
