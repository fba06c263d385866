#include "apps/linear/blocks/column_block.hpp"

namespace troupe {
namespace {

void put_varint(std::uint32_t number, std::vector<std::uint8_t>& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
  out.push_back(static_cast<std::uint8_t>(number));
}

std::optional<std::uint32_t> get_varint(span<const std::uint8_t> bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == bytes.size()) return std::nullopt;
    const auto byte = bytes[at++];
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
    if (shift == 28) return std::nullopt;
  }
  if (number > ~std::uint32_t{0}) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

}  // namespace

void encode(const column_block& columns, byte_writer& out) {
  std::vector<std::uint8_t> packed;
  for (std::size_t k = 0; k < columns.columns(); ++k) {
    put_varint(columns.begin[k + 1] - columns.begin[k], packed);
    std::uint32_t before = 0;
    for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e) {
      put_varint(columns.row[e] - before, packed);
      before = columns.row[e];
    }
  }
  out.put(static_cast<std::uint64_t>(columns.columns()));
  out.put(static_cast<std::uint64_t>(columns.entries()));
  out.put(static_cast<std::uint64_t>(packed.size()));
  out.put(static_cast<std::uint8_t>(columns.value.empty() ? 0 : 1));
  out.put(static_cast<std::uint8_t>(columns.exclusive ? 1 : 0));
  out.put_all(span<const key_id>(columns.keys));
  out.put_all(span<const std::uint8_t>(packed));
  out.put_all(span<const float>(columns.value));
}

std::optional<column_block> decode_columns(span<const std::byte> bytes, std::uint64_t rows) {
  byte_reader in(bytes);
  column_block columns;
  const auto count = in.get<std::uint64_t>(), entries = in.get<std::uint64_t>(),
             packed_bytes = in.get<std::uint64_t>();
  const bool has_values = in.get<std::uint8_t>() != 0;
  columns.exclusive = in.get<std::uint8_t>() != 0;
  columns.keys = in.get_all<key_id>(count);
  const auto packed = in.get_all<std::uint8_t>(packed_bytes);
  if (has_values) columns.value = in.get_all<float>(entries);
  // Every entry takes a byte at least.
  if (!in.finished() || entries > packed.size()) return std::nullopt;
  for (std::size_t k = 1; k < columns.keys.size(); ++k)
    if (mix(columns.keys[k - 1]) >= mix(columns.keys[k])) return std::nullopt;
  columns.begin.push_back(0);
  columns.row.reserve(entries);
  std::size_t at = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto length = get_varint(packed, at);
    if (!length || *length > entries - columns.row.size()) return std::nullopt;
    std::uint64_t row = 0;
    for (std::uint32_t e = 0; e < *length; ++e) {
      const auto step = get_varint(packed, at);
      if (!step || (e > 0 && *step == 0)) return std::nullopt;
      row += *step;
      if (row >= rows) return std::nullopt;
      columns.row.push_back(static_cast<std::uint32_t>(row));
    }
    columns.begin.push_back(static_cast<std::uint32_t>(columns.row.size()));
  }
  if (at != packed.size() || columns.row.size() != entries) return std::nullopt;
  return columns;
}

}  // namespace troupe
