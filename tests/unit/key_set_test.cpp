#include "actors/worker/key_set.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

using namespace troupe;

TEST_CASE("keys in any order, repeated or not, come out as ascending positions and lead back") {
  CHECK(rc::check("for hash partitioning", [](std::vector<key_id> keys) {
    const auto made = key_set::of(partitioning::by_hash(), keys);
    RC_ASSERT(made.ok());
    RC_ASSERT(made->asked() == keys.size());
    const auto positions = made->positions();
    for (std::size_t i = 1; i < positions.size(); ++i) RC_ASSERT(positions[i - 1] < positions[i]);
    const auto ordered = made->to_caller_order(made->bytes(), sizeof(position));
    const auto back = ordered.as<position>();
    for (std::size_t i = 0; i < keys.size(); ++i) RC_ASSERT(unmix(back[i]) == keys[i]);
  }));
}

TEST_CASE("many unsorted keys take the radix sort and come out the same") {
  std::vector<key_id> keys;
  for (key_id k = 0; k < 5000; ++k) keys.push_back(k % 1700 * 0x9E3779B97F4A7C15ull);
  const auto made = key_set::of(partitioning::by_hash(), keys);
  REQUIRE(made.ok());
  CHECK(made->size() == 1700);
  CHECK(made->repeats());
  const auto ordered = made->to_caller_order(made->bytes(), sizeof(position));
  const auto back = ordered.as<position>();
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(unmix(back[i]) == keys[i]);
}

TEST_CASE("values of repeated keys are added in the caller's order") {
  const std::vector<key_id> keys{5, 3, 5, 5};
  const auto made = key_set::of(partitioning::by_range(all_keys), keys);
  REQUIRE(made.ok());
  const std::vector<float> rows{1e8f, 10, 2, 4, -1e8f, 1, 1, 7};  // width 2
  const auto summed = made->to_position_order<float>(blob::copy_of(span<const float>(rows)), 2);
  const auto sums = summed.as<float>();
  CHECK(sums[0] == 2);
  CHECK(sums[1] == 4);
  CHECK(sums[2] == (1e8f + -1e8f) + 1);
  CHECK(sums[3] == 10 + 1 + 7);
}

TEST_CASE("a key outside a table's range is an error that names it") {
  const std::vector<key_id> keys{10, 21};
  const auto made = key_set::of(partitioning::by_range({10, 20}), keys);
  REQUIRE_FALSE(made.ok());
  CHECK(made.failure().text == "key 21 is outside the table's range 10..20");
}

TEST_CASE("no keys are fine") {
  const auto made = key_set::of(partitioning::by_hash(), {});
  REQUIRE(made.ok());
  CHECK(made->size() == 0);
  CHECK_FALSE(made->repeats());
}
