#include "actors/worker/data/block.hpp"

#include <algorithm>

namespace troupe {
namespace {

template <class T>
void put_vector(byte_writer& out, const std::vector<T>& items) {
  out.put(static_cast<std::uint64_t>(items.size()));
  out.put_all(span<const T>(items));
}

template <class T>
void get_vector(byte_reader& in, std::vector<T>& items) {
  items = in.get_all<T>(in.get<std::uint64_t>());
}

// Offsets of `count` runs that cover [0, total) without gaps.
template <class T>
bool are_offsets(const std::vector<T>& begin, std::size_t count, std::size_t total) {
  return begin.size() == count + 1 && begin.front() == 0 && begin.back() == total &&
         std::is_sorted(begin.begin(), begin.end());
}

template <class T>
bool full_or_empty(const std::vector<T>& items, std::size_t count) {
  return items.empty() || items.size() == count;
}

bool keys_ascend(const std::vector<key_id>& keys) {
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (mix(keys[i - 1]) >= mix(keys[i])) return false;
  return true;
}

bool columns_ascend(const block& b) {
  const auto limit = b.keys.size();
  for (std::size_t r = 0; r < b.rows(); ++r) {
    std::uint32_t last = 0;
    for (auto e = b.row_begin[r]; e < b.row_begin[r + 1]; ++e) {
      if (b.column[e] >= limit || b.column[e] < last) return false;
      last = b.column[e];
    }
  }
  return true;
}

bool consistent(const block& b) {
  const auto rows = b.rows(), entries = b.entries();
  const bool sizes = are_offsets(b.row_begin, rows, entries) && full_or_empty(b.value, entries) &&
                     full_or_empty(b.field, entries) && full_or_empty(b.weight, rows) &&
                     full_or_empty(b.has_group, rows) && b.group.size() == b.has_group.size() &&
                     full_or_empty(b.has_id, rows);
  const bool ids = b.has_id.empty() ? b.id_begin.empty() && b.id_text.empty()
                                    : are_offsets(b.id_begin, rows, b.id_text.size());
  return sizes && ids && keys_ascend(b.keys) && columns_ascend(b);
}

}  // namespace

example block::row(std::size_t row) const {
  example one;
  one.label = label[row];
  if (!weight.empty()) one.weight = weight[row];
  if (!has_group.empty() && has_group[row]) one.group = group[row];
  if (const auto text = id(row)) one.id = std::string(*text);
  for (auto e = row_begin[row]; e < row_begin[row + 1]; ++e)
    one.features.push_back(
        {keys[column[e]], value.empty() ? 1.0f : value[e], field.empty() ? 0 : field[e]});
  return one;
}

void encode(const block& rows, byte_writer& out) {
  out.put(rows.first_row);
  put_vector(out, rows.keys);
  put_vector(out, rows.row_begin);
  put_vector(out, rows.column);
  put_vector(out, rows.value);
  put_vector(out, rows.field);
  put_vector(out, rows.label);
  put_vector(out, rows.weight);
  put_vector(out, rows.has_group);
  put_vector(out, rows.group);
  put_vector(out, rows.has_id);
  put_vector(out, rows.id_begin);
  out.put(static_cast<std::uint64_t>(rows.id_text.size()));
  out.append(rows.id_text.data(), rows.id_text.size());
}

std::optional<block> decode_block(span<const std::byte> bytes) {
  byte_reader in(bytes);
  block b;
  b.first_row = in.get<std::uint64_t>();
  get_vector(in, b.keys);
  get_vector(in, b.row_begin);
  get_vector(in, b.column);
  get_vector(in, b.value);
  get_vector(in, b.field);
  get_vector(in, b.label);
  get_vector(in, b.weight);
  get_vector(in, b.has_group);
  get_vector(in, b.group);
  get_vector(in, b.has_id);
  get_vector(in, b.id_begin);
  const auto text = in.get_all<char>(in.get<std::uint64_t>());
  b.id_text.assign(text.begin(), text.end());
  if (!in.finished() || !consistent(b)) return std::nullopt;
  return b;
}

}  // namespace troupe
