#pragma once
// Keys, their positions on the ring, and how a table's partitioning turns the one into the other.
//
// A key is any 64-bit unsigned number. The ring is the circle of 2^64 positions. A hash-partitioned
// table puts key k at position mix(k); since mix is a bijection, hash sharding is range sharding of
// positions, nothing collides, and unmix gives the key back. A range-partitioned table declares its
// bounds [begin, end) and is stretched monotonically over the whole ring, so that key order is
// position order.

#include <cstdint>
#include <optional>
#include <utility>

#include "core/wide.hpp"

namespace troupe {

using key_id = std::uint64_t;
using position = std::uint64_t;

// A bijection on 64 bits that spreads neighbours: the finaliser "Mix13" of Stafford, the one
// splitmix64 uses.
constexpr position mix(key_id x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  x ^= x >> 31;
  return x;
}
constexpr key_id unmix(position x) {
  x ^= (x >> 31) ^ (x >> 62);
  x *= 0x319642B2D24D8EC3ull;
  x ^= (x >> 27) ^ (x >> 54);
  x *= 0x96DE1B173F119089ull;
  x ^= (x >> 30) ^ (x >> 60);
  return x;
}

// A contiguous run of keys or positions, by first and last, both included: a half-open pair cannot
// name the whole space.
struct closed_range {
  std::uint64_t first = 0;
  std::uint64_t last = ~std::uint64_t{0};
  constexpr bool contains(std::uint64_t x) const { return first <= x && x <= last; }
  // Number of elements less one, which always fits.
  constexpr std::uint64_t extent() const { return last - first; }
  friend bool operator==(const closed_range& a, const closed_range& b) {
    return a.first == b.first && a.last == b.last;
  }
  friend bool operator!=(const closed_range& a, const closed_range& b) { return !(a == b); }
};
constexpr closed_range all_keys{};

// How keys of a table become positions.
class partitioning {
 public:
  static constexpr partitioning by_hash() { return {}; }
  // Keys outside `bounds` have no position.
  static constexpr partitioning by_range(closed_range bounds) { return partitioning(bounds); }

  constexpr bool hashes() const { return hash_; }
  constexpr closed_range bounds() const { return bounds_; }
  constexpr bool contains(key_id key) const { return bounds_.contains(key); }

  // Needs contains(key).
  constexpr position position_of(key_id key) const {
    return hash_ ? mix(key) : stretched(key - bounds_.first);
  }
  // The key at a position that position_of() returned.
  constexpr key_id key_at(position p) const {
    return hash_ ? unmix(p) : bounds_.first + rank_at(p);
  }

  // The number, counted from bounds().first, of the first key whose position is >= p; none when all
  // lie below. Only for range partitioning.
  constexpr std::optional<std::uint64_t> first_rank_from(position p) const {
    const auto rank = rank_at(p);
    if (stretched(rank) >= p) return rank;
    if (rank == bounds_.extent()) return std::nullopt;
    return rank + 1;
  }

 private:
  using wide = uint128;
  constexpr partitioning() = default;
  constexpr explicit partitioning(closed_range bounds) : hash_(false), bounds_(bounds) {}
  constexpr wide count() const { return static_cast<wide>(bounds_.extent()) + 1; }
  // floor(rank * 2^64 / count): monotone, and injective because count <= 2^64.
  constexpr position stretched(std::uint64_t rank) const {
    if (bounds_.extent() == ~std::uint64_t{0}) return rank;
    return static_cast<position>((static_cast<wide>(rank) << 64) / count());
  }
  // The largest rank whose position is <= p: rank * 2^64 < (p + 1) * count.
  constexpr std::uint64_t rank_at(position p) const {
    if (bounds_.extent() == ~std::uint64_t{0}) return p;
    // ceil((p + 1) * count / 2^64) - 1, in 128 bits: (p + 1) * count can be 2^128, so count is
    // added apart.
    const wide product = static_cast<wide>(p) * static_cast<std::uint64_t>(count());
    const wide sum =
        product + static_cast<std::uint64_t>(count());  // < 2^128, since count < 2^64 here
    return static_cast<std::uint64_t>((sum - 1) >> 64);
  }

  bool hash_ = true;
  closed_range bounds_ = all_keys;
};

}  // namespace troupe
