#include "core/hash.hpp"

#include <xxhash.h>

#include <cstdio>

namespace troupe {

hash128& hash128::operator+=(const hash128& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

std::string to_hex(const hash128& h) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h.high),
                static_cast<unsigned long long>(h.low));
  return text;
}

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::uint64_t xxh3(span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

hash128 xxh3_128(const void* data, std::size_t size, std::uint64_t seed) {
  const auto h = XXH3_128bits_withSeed(data, size, seed);
  return {h.low64, h.high64};
}

struct running_hash::state {
  XXH3_state_t* xxh = XXH3_createState();
  ~state() { XXH3_freeState(xxh); }
};

running_hash::running_hash() : state_(std::make_unique<state>()) {
  XXH3_64bits_reset(state_->xxh);
}
running_hash::~running_hash() = default;
void running_hash::add(const void* data, std::size_t size) {
  XXH3_64bits_update(state_->xxh, data, size);
}
std::uint64_t running_hash::digest() const {
  return XXH3_64bits_digest(state_->xxh);
}

}  // namespace troupe
