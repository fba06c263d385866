#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "core/random.hpp"
#include "tests/support/tables.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr position top = ~position{0};

table_spec dense_spec(closed_range bounds, const std::string& function = "add",
                      std::uint32_t width = 1) {
  auto spec = spec_of(function, width);
  spec.kind = table_kind::dense;
  spec.keys = partitioning::by_range(bounds);
  return spec;
}

std::vector<position> positions_of(const table_spec& spec, const std::vector<key_id>& keys) {
  std::vector<position> all;
  for (const auto k : keys) all.push_back(spec.keys.position_of(k));
  return all;
}

}  // namespace

TEST_CASE("all rows of a dense table exist, with their initial values") {
  auto spec = dense_spec({100, 1099}, "sgd", 2);
  spec.init = {initialiser_spec::kind::uniform, -1, 1};
  const auto whole = table_of(spec);
  const auto cut = table_of(spec, {{0, top / 7}, {top / 7 + 1, top / 2}, {top / 2 + 1, top}});
  CHECK(whole->rows() == 1000);
  CHECK(cut->rows() == 1000);
  CHECK(cut->summary().digest == whole->summary().digest);
  const auto keys = positions_of(spec, {100, 500, 1099});
  CHECK(pulled<float>(*cut, keys) == pulled<float>(*whole, keys));
  REQUIRE(pushed<float>(*cut, keys, {1, 2, 3, 4, 5, 6}));
  REQUIRE(pushed<float>(*whole, keys, {1, 2, 3, 4, 5, 6}));
  CHECK(cut->summary().digest == whole->summary().digest);
  CHECK(cut->rows() == 1000);
}

TEST_CASE("an id beyond a dense table is an error that names its position") {
  const auto spec = dense_spec({0, 9});
  const auto t = table_of(spec);
  // Between the positions of two keys lies no key.
  const position between = spec.keys.position_of(4) + 1;
  const auto refused = pushed<float>(*t, {spec.keys.position_of(4), between}, {1, 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().code == errc::bad_request);
  CHECK(refused.failure().text == "table 'weights': position " + std::to_string(between) +
                                      " belongs to no key within the table's bounds");
  float out;
  CHECK_FALSE(t->pull(std::vector<position>{top}, &out, nullptr));
  CHECK(t->summary().nonzeros == 0);
}

TEST_CASE("a range read of a dense table walks its keys in order") {
  const auto spec = dense_spec({5, 24});
  const auto t = table_of(spec, {{0, top / 3}, {top / 3 + 1, top}});
  std::vector<key_id> all;
  std::vector<float> values;
  for (key_id k = 5; k <= 24; ++k) {
    all.push_back(k);
    values.push_back(static_cast<float>(k));
  }
  REQUIRE(pushed(*t, positions_of(spec, all), values));
  const auto rows = t->read_range({spec.keys.position_of(9) + 1, spec.keys.position_of(20)}, 100);
  CHECK(rows.positions == positions_of(spec, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}));
  const auto some = t->read_range(all_keys, 15);
  CHECK(some.positions.size() == 15);
  CHECK(some.next == spec.keys.position_of(20));
}

TEST_CASE("dense rows and sparse rows of one partitioning hold the same") {
  CHECK(rc::check("over bounds and cuts", [](std::uint64_t seed) {
    random_source random(seed);
    const key_id first = random.bits();
    const auto extent = std::min(random.below(500), top - first);
    const auto dense = dense_spec({first, first + extent}, "adagrad");
    auto sparse = dense;
    sparse.kind = table_kind::sparse;
    const position cut = random.bits();
    const std::vector<closed_range> segments = {{0, cut}, {cut + 1, top}};
    if (cut == top) return;
    const auto a = table_of(dense, segments), b = table_of(sparse, segments);
    std::vector<position> all;
    for (std::uint64_t i = 0; i <= extent; ++i) all.push_back(dense.keys.position_of(first + i));
    for (int round = 0; round < 3; ++round) {
      std::vector<position> some;
      std::vector<float> values;
      for (const auto p : all)
        if (random.below(3) > 0) {
          some.push_back(p);
          values.push_back(static_cast<float>(random.unit()));
        }
      RC_ASSERT(pushed(*a, some, values).ok());
      RC_ASSERT(pushed(*b, some, values).ok());
    }
    RC_ASSERT(pulled<float>(*a, all) == pulled<float>(*b, all));
  }));
}

TEST_CASE("a dense table of hashed keys, or without a name or width, cannot be made") {
  auto spec = spec_of("sgd");
  spec.kind = table_kind::dense;
  CHECK_FALSE(table::make(spec, 1));
  spec = spec_of("sgd", 0);
  CHECK_FALSE(table::make(spec, 1));
  spec = spec_of("sgd");
  spec.name.clear();
  CHECK_FALSE(table::make(spec, 1));
  spec = spec_of("sgd");
  spec.init = {initialiser_spec::kind::uniform, 2, 1};
  CHECK_FALSE(table::make(spec, 1));
}
