#include "apps/model/model_digest.hpp"

#include <charconv>
#include <system_error>

namespace troupe {
namespace {

bool read_hex(std::string_view digits, std::uint64_t& into) {
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), into, 16);
  return code == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

hash128 model_digest(const std::vector<hash128>& tables) {
  std::vector<std::uint64_t> words;
  for (const auto& table : tables) {
    words.push_back(table.low);
    words.push_back(table.high);
  }
  return xxh3_128(words.data(), words.size() * sizeof(std::uint64_t), 0);
}

std::string model_digest(const std::vector<pb::TableSummary>& tables) {
  std::vector<hash128> digests;
  for (const auto& table : tables) digests.push_back({table.digest_low(), table.digest_high()});
  return to_hex(model_digest(digests));
}

result<hash128> hash_from_hex(const std::string& text) {
  const std::string_view digits = text;
  hash128 hash;
  if (digits.size() != 32 || !read_hex(digits.substr(0, 16), hash.high) ||
      !read_hex(digits.substr(16), hash.low))
    return error{errc::damaged, "'" + text + "' is no digest of 32 hexadecimal digits"};
  return hash;
}

}  // namespace troupe
