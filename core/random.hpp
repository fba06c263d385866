#pragma once
// Seeded random numbers whose algorithms are ours, because the standard library's distributions
// differ between implementations and a run must be repeatable everywhere.
//
//   splitmix64       Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
//   2014 xoshiro256**     Blackman, Vigna: Scrambled linear pseudorandom number generators, TOMS
//   2021

#include <cstdint>

namespace troupe {

// One step of splitmix64: a good 64-bit hash of a counter, and the seeder of `random_source`.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Hashes several numbers into one seed: `seed_of(job_seed, slot, epoch)`. The order of the
// arguments matters.
constexpr std::uint64_t seed_of(std::uint64_t a) {
  return splitmix64(a);
}
template <class... Rest>
constexpr std::uint64_t seed_of(std::uint64_t a, std::uint64_t b, Rest... rest) {
  return seed_of(splitmix64(a) ^ (b + 0xD1B54A32D192ED03ull), static_cast<std::uint64_t>(rest)...);
}

// Uniform in [0, 1) with 53 random bits.
constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

class random_source {
 public:
  explicit random_source(std::uint64_t seed);

  std::uint64_t bits();                      // 64 random bits
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), without bias; bound > 0
  double unit() { return unit_interval(bits()); }
  double normal();  // mean 0, variance 1 (Marsaglia's polar method)

 private:
  std::uint64_t s_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

// Fisher-Yates; [first, last) is a range of random access.
template <class Iterator>
void shuffle(Iterator first, Iterator last, random_source& random) {
  for (auto n = static_cast<std::uint64_t>(last - first); n > 1; --n) {
    auto j = random.below(n);
    auto a = first + static_cast<std::int64_t>(n - 1);
    auto b = first + static_cast<std::int64_t>(j);
    auto tmp = *a;
    *a = *b;
    *b = tmp;
  }
}

}  // namespace troupe
