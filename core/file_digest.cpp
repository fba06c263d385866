#include "core/file_digest.hpp"

#include <algorithm>
#include <vector>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::size_t read_at_once = std::size_t{1} << 20;

std::string hex(std::uint64_t number) {
  return format("%016llx", static_cast<unsigned long long>(number));
}

}  // namespace

std::string checksum_of(std::string_view text) {
  running_hash hash;
  hash.add(text);
  return hex(hash.digest());
}

result<file_sum> sum_of_file(file_system& files, const std::string& path) {
  const auto file = files.open(path);
  if (!file) return file.failure();
  running_hash hash;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(read_at_once, (*file)->size() + 1));
  std::uint64_t size = 0;
  for (;;) {
    const auto got = (*file)->read_at(size, buffer);
    if (!got) return got.failure();
    if (*got == 0) break;
    hash.add(buffer.data(), *got);
    size += *got;
  }
  return file_sum{size, hex(hash.digest())};
}

}  // namespace troupe
