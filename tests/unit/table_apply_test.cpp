#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/support/tables.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr position top = ~position{0};

// All that a table shows of itself: rows with their state.
table_rows content(const table& t) {
  return t.read_range(all_keys, ~std::uint64_t{0} >> 1, true);
}

void check_same(const table_rows& a, const table_rows& b) {
  CHECK(a.positions == b.positions);
  CHECK(a.values == b.values);
  CHECK(a.state == b.state);
}

std::vector<position> many_positions(std::size_t count, position step) {
  std::vector<position> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i * step);
  return all;
}

}  // namespace

TEST_CASE("both ends of the key space are keys like all others") {
  const std::vector<position> ends = {0, 1, top - 1, top};
  for (const auto& segments :
       {std::vector<closed_range>{all_keys},
        std::vector<closed_range>{{0, 0}, {1, 5}, {6, top - 1}, {top, top}},
        std::vector<closed_range>{{0, 1ull << 40}, {(1ull << 40) + 1, top}}}) {
    const auto t = table_of(spec_of("add"), segments);
    CHECK(pulled<float>(*t, ends) == std::vector<float>{0, 0, 0, 0});
    CHECK(t->rows() == 0);
    REQUIRE(pushed<float>(*t, ends, {1, 2, 3, 4}));
    REQUIRE(pushed<float>(*t, {0, top}, {10, 40}));
    CHECK(pulled<float>(*t, ends) == std::vector<float>{11, 2, 3, 44});
    CHECK(content(*t).positions == ends);
  }
}

TEST_CASE("an empty push or pull is fine") {
  const auto t = table_of(spec_of("sgd"));
  CHECK(pushed<float>(*t, {}, {}));
  CHECK(pulled<float>(*t, {}).empty());
  const auto nowhere = table_of(spec_of("sgd"), {});
  CHECK(pushed<float>(*nowhere, {}, {}));
  CHECK(nowhere->summary().rows == 0);
}

TEST_CASE("a pull of a key never pushed reads its initial value and creates nothing") {
  auto spec = spec_of("sgd", 2);
  spec.init = {initialiser_spec::kind::constant, 0.5, 0};
  const auto t = table_of(spec);
  CHECK(pulled<float>(*t, {4, 9}) == std::vector<float>{0.5F, 0.5F, 0.5F, 0.5F});
  CHECK(t->rows() == 0);
  REQUIRE(pushed<float>(*t, {4}, {0, 10}));
  CHECK(pulled<float>(*t, {4, 9}) == std::vector<float>{0.5F, -0.5F, 0.5F, 0.5F});
  CHECK(t->rows() == 1);
}

TEST_CASE("a position outside the segments is an error that names it, and changes nothing") {
  const auto t = table_of(spec_of("add"), {{10, 20}, {40, 50}});
  for (const auto& keys : {std::vector<position>{9}, {10, 21}, {20, 39}, {45, 51}, {30}}) {
    const auto refused = pushed<float>(*t, keys, std::vector<float>(keys.size(), 1));
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().code == errc::bad_request);
    CHECK(refused.failure().text.find("is in no segment") != std::string::npos);
    float out[2];
    CHECK_FALSE(t->pull(keys, out, nullptr));
  }
  CHECK(t->rows() == 0);
  CHECK(pushed<float>(*t, {10, 20, 40, 50}, {1, 2, 3, 4}));
}

TEST_CASE("a push with a value that is no number is refused whole") {
  for (const auto& function : {"sgd", "ftrl", "adam", "add"}) {
    const auto t = table_of(spec_of(function));
    REQUIRE(pushed<float>(*t, {1, 2, 3}, {1, 1, 1}));
    const auto before = content(*t);
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      const auto refused = pushed<float>(*t, {1, 2, 7}, {1, bad, 1});
      REQUIRE_FALSE(refused);
      CHECK(refused.failure().code == errc::rejected);
    }
    check_same(content(*t), before);
  }
}

TEST_CASE("a push whose result overflows, in the values or in the state, is refused whole") {
  const struct {
    const char* function;
    double rate;
  } table[] = {{"ftrl", 1}, {"adagrad", 1}, {"rmsprop", 1},
               {"adam", 1}, {"sgd", 100},   {"momentum", 100}};
  for (const auto& [function, rate] : table) {
    auto spec = spec_of(function);
    spec.function.rate.rate = rate;
    const auto t = table_of(spec);
    REQUIRE(pushed<float>(*t, {1, 2, 3}, {1, 1, 1}));
    const auto before = content(*t);
    const auto refused = pushed<float>(*t, {1, 2, 3, 4}, {1, 1, 1, 1e38F});
    REQUIRE_FALSE(refused);
    CHECK_MESSAGE(refused.failure().code == errc::rejected, function);
    check_same(content(*t), before);
    CHECK(pushed<float>(*t, {4}, {1}));
  }
}

TEST_CASE("a function that throws at any row leaves rows, state and the set of rows untouched") {
  const auto keys = many_positions(5000, 0x000CCCCCCCCCCCCCull);
  for (const std::uint32_t width : {1u, 3u}) {
    const auto t = table_of(spec_of("thrower", width), {{0, top / 3}, {top / 3 + 1, top}});
    std::vector<position> half;
    for (std::size_t i = 0; i < keys.size(); i += 2) half.push_back(keys[i]);
    REQUIRE(pushed(*t, half, std::vector<float>(half.size() * width, 1)));
    const auto before = content(*t);
    for (const std::size_t at : {0, 1, 1023, 1024, 2500, 4999}) {
      std::vector<float> values(keys.size() * width, 2);
      values[at * width + width - 1] = 666;
      overwritten keep;
      const auto refused = pushed(*t, keys, values, {}, &keep);
      REQUIRE_FALSE(refused);
      CHECK(refused.failure().code == errc::rejected);
      CHECK(refused.failure().text.find("cannot take this number") != std::string::npos);
      CHECK(keep.empty());
      check_same(content(*t), before);
    }
  }
}

TEST_CASE("the version before a clock stays readable, however many pushes the clock has") {
  auto spec = spec_of("add");
  spec.init = {initialiser_spec::kind::constant, 100, 0};
  const auto t = table_of(spec);
  REQUIRE(pushed<float>(*t, {10, 20, 30}, {1, 2, 3}));
  const std::vector<position> all = {5, 10, 20, 30, 40};
  const std::vector<float> old = {100, 101, 102, 103, 100};
  overwritten keep;
  CHECK(pulled<float>(*t, all, &keep) == old);
  REQUIRE(pushed<float>(*t, {10, 40}, {1, 1}, {}, &keep));
  REQUIRE(pushed<float>(*t, {5, 10, 20}, {7, 7, 7}, {}, &keep));
  REQUIRE(pushed<float>(*t, {10}, {9}, {}, &keep));
  CHECK(pulled<float>(*t, all, &keep) == old);
  CHECK(pulled<float>(*t, {10, 30}, &keep) == std::vector<float>{101, 103});
  CHECK(pulled<float>(*t, all) == std::vector<float>{107, 118, 109, 103, 101});
  REQUIRE(keep.runs().size() == 3);
  CHECK(keep.runs()[0].absent == std::vector<std::uint32_t>{1});
  keep.clear();
  CHECK(pulled<float>(*t, {10}, &keep) == std::vector<float>{118});
}

TEST_CASE("rows put as another copy had them go on exactly as there") {
  const auto here = table_of(spec_of("adam", 2));
  const auto keys = many_positions(300, 0x00AAAAAAAAAAAAAAull);
  const std::vector<float> values(600, 0.25F);
  REQUIRE(pushed(*here, keys, values));
  const auto rows = content(*here);
  CHECK(rows.state.size() == 300 * here->state_bytes());
  const auto there = table_of(spec_of("adam", 2), {{0, top / 2}, {top / 2 + 1, top}});
  REQUIRE(pushed<float>(*there, {keys[7]}, {1, 1}));
  REQUIRE(there->put(rows.positions, rows.values.data(), rows.state.data()));
  REQUIRE(pushed(*here, keys, values));
  REQUIRE(pushed(*there, keys, values));
  check_same(content(*here), content(*there));
}

TEST_CASE("segments do not overlap, and take their rows away when they leave") {
  const auto t = table_of(spec_of("add"), {{100, 199}, {300, 399}});
  CHECK_FALSE(t->add_segment({150, 160}));
  CHECK_FALSE(t->add_segment({199, 250}));
  CHECK_FALSE(t->add_segment({0, top}));
  CHECK_FALSE(t->remove_segment({100, 198}));
  REQUIRE(t->add_segment({200, 299}));
  CHECK(t->segments() == std::vector<closed_range>{{100, 199}, {200, 299}, {300, 399}});
  REQUIRE(pushed<float>(*t, {150, 250, 350}, {1, 2, 3}));
  REQUIRE(t->remove_segment({200, 299}));
  CHECK(content(*t).positions == std::vector<position>{150, 350});
  CHECK_FALSE(t->pull(std::vector<position>{250}, nullptr, nullptr));
}

TEST_CASE("a step stands for a share that is a number") {
  const auto t = table_of(spec_of("sgd"));
  CHECK_FALSE(pushed<float>(*t, {1}, {1}, {0, -1}));
  CHECK_FALSE(pushed<float>(*t, {1}, {1}, {0, std::nan("")}));
}
