#include "apps/model/sorted_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t rows_at_once = 1 << 16;

template <class Visit>
void for_each_stored(const table& t, bool with_state, Visit visit) {
  closed_range rest = all_keys;
  for (bool more = true; more;) {
    const auto rows = t.read_range(rest, rows_at_once, with_state);
    for (std::size_t i = 0; i < rows.positions.size(); ++i)
      visit(t.spec().keys.key_at(rows.positions[i]), rows.values.data() + i * t.spec().row_bytes(),
            with_state ? rows.state.data() + i * t.state_bytes() : nullptr);
    more = rows.next.has_value();
    if (more) rest.first = *rows.next;
  }
}

bool all_zero(value_type type, const std::byte* row, std::size_t numbers) {
  for (std::size_t i = 0; i < numbers; ++i)
    if (number_at(type, row, i) != 0) return false;
  return true;
}

// Puts rows of `size` bytes in the order that `order` says.
void reorder(std::vector<std::byte>& rows, std::size_t size,
             const std::vector<std::pair<key_id, std::size_t>>& order) {
  if (size == 0 || rows.empty()) return;
  std::vector<std::byte> sorted(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(sorted.data() + i * size, rows.data() + order[i].second * size, size);
  rows = std::move(sorted);
}

}  // namespace

void for_each_row(const table& t, const std::function<void(key_id, const std::byte*)>& visit) {
  for_each_stored(
      t, false, [&](key_id key, const std::byte* values, const std::byte*) { visit(key, values); });
}

double number_at(value_type type, const std::byte* row, std::size_t index) {
  if (type == value_type::f64) {
    double value;
    std::memcpy(&value, row + index * sizeof value, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, row + index * sizeof value, sizeof value);
  return static_cast<double>(value);
}

sorted_rows rows_of(const table& t, bool weights_only) {
  const auto type = t.spec().type;
  const auto row_bytes = t.spec().row_bytes();
  const auto state_bytes = weights_only ? 0 : t.state_bytes();
  // A key without a row has its initial value, so only where that is 0 do such rows say nothing.
  const bool drops_zeros = weights_only && t.spec().init.how == initialiser_spec::kind::zero;
  sorted_rows all;
  all.state_numbers = state_bytes / bytes_of(type);
  std::vector<std::pair<key_id, std::size_t>> order;
  order.reserve(t.rows());
  all.values.reserve(t.rows() * row_bytes);
  all.state.reserve(t.rows() * state_bytes);
  for_each_stored(t, state_bytes > 0,
                  [&](key_id key, const std::byte* values, const std::byte* state) {
                    if (drops_zeros && all_zero(type, values, t.spec().width)) return;
                    order.emplace_back(key, order.size());
                    all.values.insert(all.values.end(), values, values + row_bytes);
                    if (state_bytes > 0)
                      all.state.insert(all.state.end(), state, state + state_bytes);
                  });
  std::sort(order.begin(), order.end());
  reorder(all.values, row_bytes, order);
  reorder(all.state, state_bytes, order);
  all.keys.reserve(order.size());
  for (const auto& [key, row] : order) all.keys.push_back(key);
  return all;
}

result<std::shared_ptr<table>> table_of(const table_spec& spec, std::uint64_t seed,
                                        const sorted_rows& rows) {
  auto made = table::make(spec, seed);
  if (!made) return made.failure();
  std::shared_ptr<table> t = std::move(*made);
  t->add_segment(all_keys);
  const auto state_bytes = rows.state_numbers * bytes_of(spec.type);
  if (rows.state_numbers > 0 && state_bytes != t->state_bytes())
    return error{errc::bad_data,
                 format("table '%s' has %zu numbers of state to a row, and its updater '%s' keeps "
                        "%zu",
                        spec.name.c_str(), rows.state_numbers, spec.function.name.c_str(),
                        t->state_bytes() / bytes_of(spec.type))};
  if (rows.values.size() != rows.keys.size() * spec.row_bytes() ||
      rows.state.size() != rows.keys.size() * state_bytes)
    return error{errc::bad_data, "table '" + spec.name + "' does not have as many values as keys"};
  std::vector<std::pair<position, std::size_t>> order;
  order.reserve(rows.keys.size());
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    if (!spec.keys.contains(rows.keys[i]))
      return error{errc::bad_data, format("table '%s' has no place for key %llu", spec.name.c_str(),
                                          static_cast<unsigned long long>(rows.keys[i]))};
    order.emplace_back(spec.keys.position_of(rows.keys[i]), i);
  }
  std::sort(order.begin(), order.end());
  auto values = rows.values, state = rows.state;
  reorder(values, spec.row_bytes(), order);
  reorder(state, state_bytes, order);
  std::vector<position> positions;
  positions.reserve(order.size());
  for (const auto& [at, row] : order) positions.push_back(at);
  if (auto done = t->put(positions, values.data(), state.empty() ? nullptr : state.data()); !done)
    return done.failure();
  return t;
}

}  // namespace troupe
