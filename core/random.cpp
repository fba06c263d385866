#include "core/random.hpp"

#include <cmath>

#include "core/math.hpp"
#include "core/wide.hpp"

namespace troupe {
namespace {

std::uint64_t rotated_left(std::uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

}  // namespace

random_source::random_source(std::uint64_t seed) {
  for (auto& word : s_) word = seed = splitmix64(seed);
}

std::uint64_t random_source::bits() {
  const auto drawn = rotated_left(s_[1] * 5, 7) * 9;
  const auto t = s_[1] << 17;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = rotated_left(s_[3], 45);
  return drawn;
}

// Lemire: Fast random integer generation in an interval, TOMACS 2019.
std::uint64_t random_source::below(std::uint64_t bound) {
  uint128 product = static_cast<uint128>(bits()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<uint128>(bits()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double random_source::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x, y, s;
  do {
    x = 2 * unit() - 1;
    y = 2 * unit() - 1;
    s = x * x + y * y;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * math::log(s) / s);
  spare_ = y * scale;
  has_spare_ = true;
  return x * scale;
}

}  // namespace troupe
