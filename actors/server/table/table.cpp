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
  return spec.type == value_type::f32 ? made(spec, seed, *entry, entry->make_f32(*numbers))
                                      : made(spec, seed, *entry, entry->make_f64(*numbers));
}

std::uint64_t table::rows_for_reading() const {
  constexpr std::uint64_t least_bytes = 1 << 22, pieces = 16;
  const auto row = sizeof(position) + spec_.row_bytes() + state_bytes();
  return std::max({std::uint64_t{1}, least_bytes / row, rows() / pieces});
}

table_summary table::summary() const {
  const auto rows_at_once = rows_for_reading();
  table_summary sum;
  const auto seed = xxh64(spec_.name, 0);
  closed_range rest = all_keys;
  for (bool more = true; more;) {
    const auto rows = read_range(rest, rows_at_once);
    spec_.type == value_type::f32 ? add_up<float>(rows, spec_.width, seed, sum)
                                  : add_up<double>(rows, spec_.width, seed, sum);
    more = rows.next.has_value();
    if (more) rest.first = *rows.next;
  }
  sum.live_bytes = live_bytes();
  return sum;
}

}  // namespace troupe
