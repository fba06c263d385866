#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstring>
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
