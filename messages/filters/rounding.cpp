#include "messages/filters/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

// A processor that does eight numbers at once does so; what comes of it is the same. All that is
// called is compiled into the clone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TROUPE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TROUPE_WIDE
#endif
#define TROUPE_INSIDE inline __attribute__((always_inline))

namespace troupe {
namespace {

// Of 32 bits, so that four run side by side: Wellons' lowbias32, the seed's halves mixed in before
// each multiplication. 24 bits are used, so that a whole number and a draw add up exactly in f64.
TROUPE_INSIDE double draw_of(std::uint32_t index, std::uint32_t low, std::uint32_t high) {
  std::uint32_t x = index ^ low;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= high;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return static_cast<std::int32_t>(x >> 8) * 0x1p-24;
}

// The largest magnitude. Of numbers that are all finite the bits are ordered as they are.
TROUPE_INSIDE float largest_of(const float* numbers, std::size_t count, std::size_t stride) {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t bits;
    std::memcpy(&bits, numbers + i * stride, sizeof bits);
    most = std::max(most, bits & 0x7fffffff);
  }
  float largest;
  std::memcpy(&largest, &most, sizeof largest);
  return largest;
}
TROUPE_INSIDE double largest_of(const double* numbers, std::size_t count, std::size_t stride) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(numbers[i * stride]));
  return largest;
}

// `rounded`, or the negative zero if x is that. In whole numbers, since a branch would keep the
// compiler from doing several at once.
template <class Bits, class T>
TROUPE_INSIDE T negative_zero_stays(T rounded, T x) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  Bits of_x, of_rounded;
  std::memcpy(&of_x, &x, sizeof x);
  std::memcpy(&of_rounded, &rounded, sizeof x);
  of_rounded |= of_x == sign ? sign : Bits{0};
  std::memcpy(&rounded, &of_rounded, sizeof x);
  return rounded;
}
TROUPE_INSIDE float with_sign_of_zero(float rounded, float x) {
  return negative_zero_stays<std::uint32_t>(rounded, x);
}
TROUPE_INSIDE double with_sign_of_zero(double rounded, double x) {
  return negative_zero_stays<std::uint64_t>(rounded, x);
}

// side_by_side: the stride is 1.
template <bool side_by_side, class T>
TROUPE_INSIDE void round_all(T* numbers, std::size_t count, std::size_t apart, double unit,
                             double inverse, int above_all, std::uint64_t seed,
                             std::uint64_t index) {
  const std::size_t stride = side_by_side ? 1 : apart;
  const auto first = static_cast<std::uint32_t>(index), step = static_cast<std::uint32_t>(stride);
  const auto low = static_cast<std::uint32_t>(seed),
             high = static_cast<std::uint32_t>((seed >> 32) ^ (index >> 32));
  for (std::size_t i = 0; i < count; ++i) {
    const T x = numbers[i * stride];
    // Rounded down, as a number above zero is when it is made whole.
    const double scaled = static_cast<double>(x) * inverse + above_all;
    const int code =
        static_cast<int>(scaled + draw_of(first + static_cast<std::uint32_t>(i) * step, low, high));
    const T rounded = static_cast<T>((code - above_all) * unit);
    numbers[i * stride] = with_sign_of_zero(rounded, x);
  }
}

template <class T>
TROUPE_INSIDE void round_some(T* numbers, std::size_t count, std::size_t stride, int most,
                              std::uint64_t seed, std::uint64_t index) {
  const auto largest = static_cast<double>(largest_of(numbers, count, stride));
  if (!(largest > 0)) return;
  int exponent;
  (void)std::frexp(largest / most, &exponent);
  // frexp's part is below 1, so the unit is above largest / most; exactly a power of two fits too.
  if (std::ldexp(0.5, exponent) * most >= largest) --exponent;
  exponent = std::max(exponent, -1000);
  const double unit = std::ldexp(1.0, exponent), inverse = std::ldexp(1.0, -exponent);
  const int above_all = 2 * (most + 1);
  if (stride == 1)  // a loop of its own, which the compiler makes of several numbers at once
    round_all<true>(numbers, count, stride, unit, inverse, above_all, seed, index);
  else
    round_all<false>(numbers, count, stride, unit, inverse, above_all, seed, index);
}

}  // namespace

TROUPE_WIDE void round_to_multiples(float* numbers, std::size_t count, std::size_t stride, int most,
                                    std::uint64_t seed, std::uint64_t index) {
  round_some(numbers, count, stride, most, seed, index);
}
TROUPE_WIDE void round_to_multiples(double* numbers, std::size_t count, std::size_t stride,
                                    int most, std::uint64_t seed, std::uint64_t index) {
  round_some(numbers, count, stride, most, seed, index);
}

}  // namespace troupe
