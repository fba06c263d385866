#include "actors/server/table/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "actors/server/table/typed_table.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

result<void> check(const table_spec& spec) {
  if (spec.name.empty()) return error{errc::bad_config, "a table needs a name"};
  if (spec.width == 0 || spec.width > table_spec::max_width)
    return error{errc::bad_config, format("its width is %u; it must be from 1 to %u", spec.width,
                                          table_spec::max_width)};
  if (spec.kind == table_kind::dense && spec.keys.hashes())
    return error{errc::bad_config, "a dense table is partitioned by range"};
  return check(spec.init);
}

template <class T>
std::unique_ptr<table> made(const table_spec& spec, std::uint64_t seed, const function_entry& entry,
                            std::unique_ptr<server_function<T>> function) {
  return std::make_unique<typed_table<T>>(spec, seed, entry, std::move(function));
}

template <class T>
void add_up(const table_rows& rows, std::size_t width, std::uint64_t seed, table_summary& sum) {
  std::vector<std::byte> hashed(sizeof(position) + width * sizeof(T));
  for (std::size_t i = 0; i < rows.positions.size(); ++i) {
    const auto* row = rows.values.data() + i * width * sizeof(T);
    for (std::size_t j = 0; j < width; ++j) {
      T v;
      std::memcpy(&v, row + j * sizeof(T), sizeof v);
      const auto value = static_cast<double>(v);
      sum.nonzeros += value != 0;
      sum.absolutes += std::fabs(value);
      sum.squares += value * value;
    }
    std::memcpy(hashed.data(), &rows.positions[i], sizeof(position));
    std::memcpy(hashed.data() + sizeof(position), row, width * sizeof(T));
    sum.digest += xxh3_128(hashed.data(), hashed.size(), seed);
  }
  sum.rows += rows.positions.size();
}

}  // namespace

result<std::unique_ptr<table>> table::make(const table_spec& spec, std::uint64_t seed) {
  const auto wrong = [&](const error& e) {
    return error{e.code, "table '" + spec.name + "': " + e.text};
  };
  if (auto fits = check(spec); !fits) return wrong(fits.failure());
  auto entry = function_registry::global().find(spec.function.name);
  if (!entry) return wrong(entry.failure());
  auto numbers = check(spec.function, *entry);
  if (!numbers) return wrong(numbers.failure());
  if (entry->pushes > 1 && spec.function.clip != clipping::none)
    return wrong(error{errc::bad_config, "what is pushed to '" + spec.function.name +
                                             "' is no gradient alone, and cannot be clipped"});
  return spec.type == value_type::f32 ? made(spec, seed, *entry, entry->make_f32(*numbers))
                                      : made(spec, seed, *entry, entry->make_f64(*numbers));
}

std::uint64_t table::rows_for_reading() const {
  constexpr std::uint64_t least_bytes = 1 << 22, pieces = 16;
  const auto row = sizeof(position) + spec_.row_bytes() + state_bytes();
  return std::max({std::uint64_t{1}, least_bytes / row, rows() / pieces});
}

void add_rows(const table_spec& spec, const table_rows& rows, table_summary& sum) {
  const auto seed = xxh64(spec.name, 0);
  spec.type == value_type::f32 ? add_up<float>(rows, spec.width, seed, sum)
                               : add_up<double>(rows, spec.width, seed, sum);
}

void table::give_away(const std::vector<closed_range>& ranges, table& other) {
  const auto segments = segments_;  // which change below
  for (const auto& whole : segments) {
    std::vector<std::pair<closed_range, table*>> pieces;
    position next = whole.first;
    for (const auto& r : ranges) {
      if (!whole.contains(r.first)) continue;
      if (next < r.first) pieces.push_back({{next, r.first - 1}, this});
      pieces.push_back({r, &other});
      next = r.last + 1;
      if (r.last == whole.last) break;
    }
    if (pieces.empty()) continue;
    if (pieces.back().first.last != whole.last) pieces.push_back({{next, whole.last}, this});
    // Read whole, so that it need not be found again while it is taken apart.
    std::vector<table_rows> parts;
    for (const auto& [range, to] : pieces)
      parts.push_back(read_range(range, ~std::uint64_t{0}, true));
    remove_segment(whole);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto& [range, to] = pieces[i];
      const auto& rows = parts[i];
      to->add_segment(range);
      (void)to->put(rows.positions, rows.values.data(),
                    state_bytes() > 0 ? rows.state.data() : nullptr);
    }
  }
}

table_summary table::summary() const {
  const auto rows_at_once = rows_for_reading();
  table_summary sum;
  closed_range rest = all_keys;
  for (bool more = true; more;) {
    const auto rows = read_range(rest, rows_at_once);
    add_rows(spec_, rows, sum);
    more = rows.next.has_value();
    if (more) rest.first = *rows.next;
  }
  sum.live_bytes = live_bytes();
  sum.largest = largest_state();
  return sum;
}

}  // namespace troupe
