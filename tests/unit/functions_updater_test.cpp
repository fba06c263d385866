#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/tables.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

template <class T>
T shrunk(T x, T by) {
  if (x > by) return x - by;
  if (x < -by) return x + by;
  return 0;
}

// One value, one step, written out by the formulas and with no thought for speed.
template <class T>
struct by_hand {
  std::string name;
  T l1 = 0, l2 = 0;  // times the share
  T w = 0, m = 0, n = 0, z = 0;
  int t = 0;

  void step(T pushed, T rate) {
    const T g = name == "ftrl" || name == "add" || name == "assign" ? pushed : pushed + l2 * w;
    ++t;
    if (name == "add") w = w + pushed;
    if (name == "assign") w = pushed;
    if (name == "sgd") w = shrunk(w - rate * g, rate * l1);
    if (name == "momentum") {
      m = T(0.9) * m + g;
      w = shrunk(w - rate * m, rate * l1);
    }
    if (name == "nesterov") {
      m = T(0.9) * m + g;
      w = shrunk(w - rate * (g + T(0.9) * m), rate * l1);
    }
    if (name == "adagrad") {
      n = n + g * g;
      const T e = rate / (std::sqrt(n) + T(1e-8));
      w = shrunk(w - e * g, e * l1);
    }
    if (name == "rmsprop") {
      n = T(0.9) * n + (1 - T(0.9)) * (g * g);
      const T e = rate / (std::sqrt(n) + T(1e-8));
      w = shrunk(w - e * g, e * l1);
    }
    if (name == "adam") {
      m = T(0.9) * m + (1 - T(0.9)) * g;
      n = T(0.999) * n + (1 - T(0.999)) * (g * g);
      const T first = static_cast<T>(1 / (1 - std::pow(0.9, t)));
      const T second = static_cast<T>(1 / (1 - std::pow(0.999, t)));
      const T e = rate / (std::sqrt(n * second) + T(1e-8));
      w = shrunk(w - e * (m * first), e * l1);
    }
    if (name == "ftrl") {
      const T sigma = (std::sqrt(n + pushed * pushed) - std::sqrt(n)) / T(0.1);
      z = z + pushed - sigma * w;
      n = n + pushed * pushed;
      w = std::fabs(z) <= l1 ? T(0) : -shrunk(z, l1) / ((1 + std::sqrt(n)) / T(0.1) + l2);
    }
  }
};

const std::vector<std::string> all = {"add",     "assign",  "sgd",  "momentum", "nesterov",
                                      "adagrad", "rmsprop", "adam", "ftrl"};

// Twelve steps on five keys with three values; every key misses some steps.
template <class T>
void compare(const std::string& name, double l1, double l2, double share) {
  auto spec = spec_of(name, 3, sizeof(T) == 4 ? value_type::f32 : value_type::f64);
  spec.function.l1 = l1;
  spec.function.l2 = l2;
  spec.function.rate.rate = 0.25;
  spec.function.rate.kind = decay_kind::inverse;
  spec.function.rate.decay = 8;
  const auto t = table_of(spec);
  std::map<position, std::vector<by_hand<T>>> expected;
  const double scale = name == "ftrl" ? 1 : share;
  for (std::uint64_t clock = 0; clock < 12; ++clock) {
    std::vector<position> keys;
    std::vector<T> values;
    for (position p = 0; p < 5; ++p) {
      if ((clock + p) % 3 == 0) continue;
      keys.push_back(p << 60);
      auto& row = expected[p << 60];
      row.resize(3, {name, static_cast<T>(l1 * scale), static_cast<T>(l2 * scale)});
      for (int i = 0; i < 3; ++i) {
        values.push_back(static_cast<T>(0.37 * (static_cast<double>(clock) - 5) + i - 0.7));
        row[static_cast<std::size_t>(i)].step(
            values.back(), static_cast<T>(0.25 / (1 + static_cast<double>(clock) / 8)));
      }
    }
    REQUIRE(pushed(*t, keys, values, {clock, share}));
    for (const auto& [p, row] : expected) {
      const auto got = pulled<T>(*t, {p});
      for (std::size_t i = 0; i < 3; ++i)
        CHECK_MESSAGE(got[i] == row[i].w, name << " at clock " << clock);
    }
  }
}

}  // namespace

TEST_CASE("every updater gives, bit for bit, what its formulas written out give") {
  for (const auto& name : all) {
    compare<float>(name, 0, 0, 1);
    compare<double>(name, 0, 0, 1);
  }
}

TEST_CASE("penalties enter the formulas in proportion to the step's share of the data") {
  for (const auto& name : all) {
    if (name == "add" || name == "assign") continue;
    compare<float>(name, 0.5, 0, 1);
    compare<float>(name, 0.25, 2, 0.125);
    compare<double>(name, 0.25, 2, 0.125);
  }
}

TEST_CASE("a strong l1 penalty leaves exact zeros, and they are not negative") {
  for (const auto& name : {"sgd", "adagrad", "ftrl", "adam"}) {
    auto spec = spec_of(name);
    spec.function.l1 = 1000;
    const auto t = table_of(spec);
    REQUIRE(pushed<float>(*t, {1, 2}, {0.5F, -0.5F}));
    for (const float w : pulled<float>(*t, {1, 2})) {
      CHECK(w == 0);
      CHECK_FALSE(std::signbit(w));
    }
    CHECK(t->summary().nonzeros == 0);
    CHECK(t->rows() == 2);
  }
}

TEST_CASE("sgd over the shares of one pass comes to the minimum of losses plus penalty") {
  // One value, losses 4 * (w - 3)^2 / 2 in four equal parts, l1 = 2, l2 = 1: 4 (w - 3) + 2 + w = 0.
  auto spec = spec_of("sgd", 1, value_type::f64);
  spec.function.l1 = 2;
  spec.function.l2 = 1;
  spec.function.rate.rate = 0.01;
  const auto t = table_of(spec);
  for (std::uint64_t clock = 0; clock < 8000; ++clock)
    REQUIRE(pushed<double>(*t, {9}, {pulled<double>(*t, {9})[0] - 3}, {clock, 0.25}));
  CHECK(pulled<double>(*t, {9})[0] == doctest::Approx(2).epsilon(1e-9));
}

TEST_CASE("clipping by value cuts each value, clipping by norm shortens each key's") {
  auto spec = spec_of("add", 2);
  spec.function.clip = clipping::value;
  spec.function.clip_at = 1;
  const auto by_value = table_of(spec);
  REQUIRE(pushed<float>(*by_value, {1, 2}, {3, 0.5F, -4, 1}));
  CHECK(pulled<float>(*by_value, {1, 2}) == std::vector<float>{1, 0.5F, -1, 1});
  spec.function.clip = clipping::norm;
  spec.function.clip_at = 5;
  const auto by_norm = table_of(spec);
  REQUIRE(pushed<float>(*by_norm, {1, 2}, {30, 40, 3, 4}));
  CHECK(pulled<float>(*by_norm, {1, 2}) == std::vector<float>{3, 4, 3, 4});
  // The square of this one is no float.
  REQUIRE(pushed<float>(*by_norm, {3}, {0, 1e30F}));
  CHECK(pulled<float>(*by_norm, {3}) == std::vector<float>{0, 5});
  // The square of this one is not even a double.
  spec.type = value_type::f64;
  const auto in_double = table_of(spec);
  REQUIRE(pushed<double>(*in_double, {3, 4}, {3e200, 4e200, 3, 4}));
  const auto shortened = pulled<double>(*in_double, {3});
  CHECK(shortened[0] == doctest::Approx(3));
  CHECK(shortened[1] == doctest::Approx(4));
  CHECK(pulled<double>(*in_double, {4}) == std::vector<double>{3, 4});
}
