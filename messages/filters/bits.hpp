#pragma once
// Numbers of any count of bits, one after the other, the low bits first.

#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/span.hpp"
#include "core/wide.hpp"

namespace troupe {

// Bits that a number has: 0 of 0, 64 at most.
inline int bits_of(std::uint64_t x) {
  return x == 0 ? 0 : 64 - __builtin_clzll(x);
}

class bit_writer {
 public:
  explicit bit_writer(byte_writer& out) : out_(out) {}
  // `number` has no more than `bits` bits.
  void put(std::uint64_t number, int bits) {
    if (bits == 0) return;
    held_ |= number << count_;
    if (count_ + bits >= 64) {
      out_.put(held_);
      const int over = count_ + bits - 64;
      held_ = over == 0 ? 0 : number >> (bits - over);
      count_ = over;
    } else {
      count_ += bits;
    }
  }
  void finish() {
    for (; count_ > 0; count_ -= 8, held_ >>= 8) out_.put(static_cast<std::uint8_t>(held_));
    count_ = 0;
    held_ = 0;
  }

 private:
  byte_writer& out_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

class bit_reader {
 public:
  explicit bit_reader(span<const std::byte> bytes) : bytes_(bytes) {}
  // Zeros past the end; check ok() in time.
  std::uint64_t get(int bits) {
    for (; have_ < bits; have_ += 8) {
      if (at_ < bytes_.size()) held_ |= static_cast<uint128>(bytes_[at_]) << have_;
      ++at_;
    }
    const auto mask = (static_cast<uint128>(1) << bits) - 1;
    const auto number = static_cast<std::uint64_t>(held_ & mask);
    held_ >>= bits;
    have_ -= bits;
    return number;
  }
  bool ok() const { return at_ <= bytes_.size(); }
  bool finished() const { return at_ == bytes_.size(); }  // but for bits of the last byte

 private:
  const span<const std::byte> bytes_;
  std::size_t at_ = 0;
  uint128 held_ = 0;
  int have_ = 0;
};

}  // namespace troupe
