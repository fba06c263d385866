#pragma once
// XXH3 and XXH64 of bytes: checksums of files, hashes of names, the digest of a model.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/span.hpp"

namespace troupe {

struct hash128 {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const hash128& a, const hash128& b) {
    return a.low == b.low && a.high == b.high;
  }
  friend bool operator!=(const hash128& a, const hash128& b) { return !(a == b); }
  hash128& operator+=(const hash128& other);  // modulo 2^128
};

std::string to_hex(const hash128& h);  // 32 hexadecimal digits, high word first

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed);
std::uint64_t xxh3(span<const std::byte> bytes);
hash128 xxh3_128(const void* data, std::size_t size, std::uint64_t seed);

// XXH3 over pieces.
class running_hash {
 public:
  running_hash();
  ~running_hash();
  running_hash(const running_hash&) = delete;
  running_hash& operator=(const running_hash&) = delete;
  void add(const void* data, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::uint64_t digest() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
