#include "messages/keys.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace troupe;

TEST_CASE("unmix gives back every key that mix scattered") {
  for (const key_id edge :
       {key_id{0}, key_id{1}, ~key_id{0}, key_id{1} << 63, (key_id{1} << 63) + 5})
    CHECK(unmix(mix(edge)) == edge);
  CHECK(rc::check("mix and unmix are inverse over all 64 bits", [](std::uint64_t seed) {
    // Multiplied out, so that all bits vary: the generator alone prefers small numbers.
    const key_id key = seed * 0x9E3779B97F4A7C15ull;
    RC_ASSERT(unmix(mix(key)) == key);
    RC_ASSERT(mix(unmix(key)) == key);
  }));
}

TEST_CASE("a range partitioning is monotone, injective and gives its keys back") {
  CHECK(
      rc::check("over bounds of every size", [](std::uint64_t a, std::uint64_t b, std::uint64_t x) {
        a *= 0x9E3779B97F4A7C15ull;
        b *= 0xBF58476D1CE4E5B9ull;
        const closed_range bounds{std::min(a, b), std::max(a, b)};
        const auto how = partitioning::by_range(bounds);
        x *= 0x94D049BB133111EBull;
        const key_id key =
            bounds.extent() == ~std::uint64_t{0} ? x : bounds.first + x % (bounds.extent() + 1);
        RC_ASSERT(how.key_at(how.position_of(key)) == key);
        if (key > bounds.first) {
          RC_ASSERT(how.position_of(key - 1) < how.position_of(key));
          RC_ASSERT(how.first_rank_from(how.position_of(key - 1) + 1) == key - bounds.first);
        }
        RC_ASSERT(how.first_rank_from(how.position_of(key)) == key - bounds.first);
      }));
}

TEST_CASE("the bounds of a range partitioning stand at the two ends of the ring") {
  struct row {
    closed_range bounds;
    position of_last;
  };
  for (const auto& [bounds, of_last] :
       {row{{0, 0}, 0}, row{{0, 1}, position{1} << 63}, row{{10, 13}, position{3} << 62},
        row{all_keys, ~position{0}}}) {
    const auto how = partitioning::by_range(bounds);
    CHECK(how.position_of(bounds.first) == 0);
    CHECK(how.position_of(bounds.last) == of_last);
    CHECK(how.first_rank_from(of_last) == bounds.extent());
    if (of_last != ~position{0}) CHECK_FALSE(how.first_rank_from(of_last + 1));
  }
}
