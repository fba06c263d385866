#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "actors/server/table/gather.hpp"
#include "core/random.hpp"

using namespace troupe;

namespace {

template <class T>
struct push {
  std::vector<position> positions;
  std::vector<T> values;
};

template <class T>
std::vector<gather_input> inputs_of(const std::vector<push<T>>& pushes) {
  std::vector<gather_input> inputs;
  for (const auto& p : pushes) inputs.push_back({p.positions, p.values.data()});
  return inputs;
}

template <class T>
bool agrees(random_source& random, value_type type) {
  const std::size_t width = 1 + random.below(3);
  std::vector<push<T>> pushes(random.below(70));
  std::map<position, std::vector<T>> expected;
  const double divisor = random.below(2) ? 1 : 3;
  for (auto& p : pushes) {
    for (position at = random.below(20); at < 200; at += 1 + random.below(60)) {
      p.positions.push_back(at);
      auto& sum = expected[at];
      const bool first = sum.empty();
      sum.resize(width);
      for (auto& s : sum) {
        p.values.push_back(static_cast<T>(random.unit() - 0.5));
        s = first ? p.values.back() : s + p.values.back();
      }
    }
  }
  const auto got = gather(type, width, inputs_of(pushes), divisor);
  std::vector<position> positions;
  std::vector<T> values;
  for (const auto& [at, sum] : expected) {
    positions.push_back(at);
    for (const T s : sum) values.push_back(divisor == 1 ? s : s / static_cast<T>(divisor));
  }
  return got.positions == positions && got.values.size() == values.size() * sizeof(T) &&
         (values.empty() || std::memcmp(got.values.data(), values.data(), got.values.size()) == 0);
}

}  // namespace

TEST_CASE("gathering adds up in the order of the inputs, bit for bit") {
  CHECK(rc::check("as one loop over a sorted map does", [](std::uint64_t seed) {
    random_source random(seed);
    RC_ASSERT(agrees<float>(random, value_type::f32));
    RC_ASSERT(agrees<double>(random, value_type::f64));
  }));
}

TEST_CASE("gathering many rows gives what gathering them in two parts gives") {
  random_source random(4);
  std::vector<push<float>> low(5), high(5), whole(5);
  for (std::size_t k = 0; k < 5; ++k)
    for (position at = 0; at < 60000; at += 1 + random.below(k < 2 ? 3 : 50)) {
      const auto v = static_cast<float>(random.unit());
      for (auto* p : {at < 31234 ? &low[k] : &high[k], &whole[k]}) {
        p->positions.push_back(at);
        p->values.push_back(v);
      }
    }
  const auto all = gather(value_type::f32, 1, inputs_of(whole), 1);
  auto first = gather(value_type::f32, 1, inputs_of(low), 1);
  const auto second = gather(value_type::f32, 1, inputs_of(high), 1);
  first.positions.insert(first.positions.end(), second.positions.begin(), second.positions.end());
  first.values.insert(first.values.end(), second.values.begin(), second.values.end());
  CHECK(all.positions == first.positions);
  CHECK(all.values == first.values);
  CHECK(std::adjacent_find(all.positions.begin(), all.positions.end(), std::greater_equal<>()) ==
        all.positions.end());
}

TEST_CASE("an input without rows changes no bit of the sum") {
  const std::vector<push<float>> pushes = {
      {{1, 5}, {0.1F, 0.2F}}, {{5}, {0.3F}}, {{1, 5, 9}, {0.7F, 1e-9F, 4}}};
  auto inputs = inputs_of(pushes);
  const auto sum = gather(value_type::f32, 1, inputs, 1);
  inputs.insert(inputs.begin() + 1, gather_input{});
  inputs.push_back({});
  CHECK(gather(value_type::f32, 1, inputs, 1).values == sum.values);
  CHECK(gather(value_type::f32, 1, {}, 1).positions.empty());
}
