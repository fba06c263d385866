#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstring>
#include <map>
#include <set>

#include "actors/server/table/sparse_rows.hpp"
#include "core/random.hpp"
#include "tests/support/tables.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr position top = ~position{0};

// Sorted, distinct; spread over the ring, crowded at places, or at its ends.
std::vector<position> some_positions(random_source& random, std::size_t most) {
  std::set<position> chosen;
  const auto kind = random.below(4);
  const position place = random.bits();
  for (auto n = random.below(most + 1); n > 0; --n) {
    if (kind == 0) chosen.insert(random.bits());
    if (kind == 1) chosen.insert(place + random.below(2 * most));
    if (kind == 2) chosen.insert(random.below(2) ? random.below(most) : top - random.below(most));
    if (kind == 3) chosen.insert((random.bits() >> 58) << 58);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<closed_range> some_segments(random_source& random) {
  std::set<position> firsts = {0};
  for (auto n = random.below(6); n > 0; --n) firsts.insert(random.bits() >> random.below(8));
  std::vector<closed_range> segments;
  for (auto f = firsts.begin(); f != firsts.end(); ++f) {
    const auto next = std::next(f);
    segments.push_back({*f, next == firsts.end() ? top : *next - 1});
  }
  return segments;
}

std::vector<closed_range> equal_segments(std::uint64_t count) {
  std::vector<closed_range> segments;
  for (std::uint64_t i = 0; i < count; ++i)
    segments.push_back({i * (top / count), i + 1 == count ? top : (i + 1) * (top / count) - 1});
  return segments;
}

std::vector<position> random_positions(std::size_t count, std::uint64_t seed) {
  random_source random(seed);
  std::set<position> chosen;
  while (chosen.size() < count) chosen.insert(random.bits());
  return {chosen.begin(), chosen.end()};
}

}  // namespace

TEST_CASE("a sparse table is a sorted map of rows") {
  CHECK(rc::check("over random pushes, pulls and range reads", [](std::uint64_t seed) {
    random_source random(seed);
    const std::uint32_t width = 1 + static_cast<std::uint32_t>(random.below(3));
    const auto t = table_of(spec_of("add", width, value_type::f64), some_segments(random));
    std::map<position, std::vector<double>> expected;
    for (int round = 0; round < 12; ++round) {
      const auto keys = some_positions(random, random.below(2) ? 2000 : 20);
      std::vector<double> values;
      for (const auto p : keys) {
        auto& row = expected[p];
        row.resize(width);
        for (auto& v : row) {
          values.push_back(static_cast<double>(random.below(1000)));
          v += values.back();
        }
      }
      RC_ASSERT(pushed(*t, keys, values).ok());
      RC_ASSERT(t->rows() == expected.size());
      auto asked = some_positions(random, 50);
      for (const auto& [p, row] : expected)
        if (random.below(8) == 0) asked.push_back(p);
      std::sort(asked.begin(), asked.end());
      asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
      const auto got = pulled<double>(*t, asked);
      for (std::size_t i = 0; i < asked.size(); ++i)
        for (std::uint32_t j = 0; j < width; ++j)
          RC_ASSERT(got[i * width + j] == (expected.count(asked[i]) ? expected[asked[i]][j] : 0));
    }
    // All of it, or a part, in pieces of any size.
    closed_range range{random.bits(), random.bits()};
    if (random.below(2)) range = all_keys;
    if (range.first > range.last) std::swap(range.first, range.last);
    const auto limit = 1 + random.below(700);
    auto next = expected.lower_bound(range.first);
    for (bool more = true; more;) {
      const auto rows = t->read_range(range, limit);
      RC_ASSERT(rows.positions.size() <= limit);
      for (std::size_t i = 0; i < rows.positions.size(); ++i, ++next) {
        RC_ASSERT(next != expected.end());
        RC_ASSERT(rows.positions[i] == next->first);
        RC_ASSERT(std::memcmp(rows.values.data() + i * width * 8, next->second.data(), width * 8) ==
                  0);
      }
      more = rows.next.has_value();
      if (more) {
        RC_ASSERT(rows.positions.size() == limit);
        RC_ASSERT(*rows.next == next->first);
        range.first = *rows.next;
      }
    }
    RC_ASSERT(next == expected.upper_bound(range.last));
  }));
}

TEST_CASE("summary and digest are the same for every segmentation and order of insertion") {
  const auto keys = random_positions(3000, 5);
  std::vector<float> values;
  for (std::size_t i = 0; i < keys.size(); ++i) values.push_back(static_cast<float>(i % 7) - 3);
  const auto one = table_of(spec_of("add"));
  REQUIRE(pushed(*one, keys, values));
  const auto sum = one->summary();
  CHECK(sum.rows == 3000);
  CHECK(sum.nonzeros == 3000 - 429);
  CHECK(sum.absolutes == doctest::Approx(5142).epsilon(0.01));
  for (const std::uint64_t count : {2, 7, 64}) {
    const auto other = table_of(spec_of("add"), equal_segments(count));
    for (std::size_t from = 10; from-- > 0;) {
      std::vector<position> some;
      std::vector<float> their;
      for (std::size_t i = from; i < keys.size(); i += 10) {
        some.push_back(keys[i]);
        their.push_back(values[i]);
      }
      REQUIRE(pushed(*other, some, their));
    }
    CHECK(other->summary().digest == sum.digest);
    CHECK(other->summary().squares == sum.squares);
    REQUIRE(pushed<float>(*other, {keys[17]}, {1}));
    CHECK(other->summary().digest != sum.digest);
  }
  auto renamed = spec_of("add");
  renamed.name = "bias";
  const auto other = table_of(renamed);
  REQUIRE(pushed(*other, keys, values));
  CHECK(other->summary().digest != sum.digest);
}

TEST_CASE("digests of several servers add up to that of one") {
  const auto keys = random_positions(500, 6);
  const std::vector<float> values(500, 1.5F);
  const auto whole = table_of(spec_of("add"));
  REQUIRE(pushed(*whole, keys, values));
  hash128 sum;
  for (const auto& segment : equal_segments(3)) {
    const auto server = table_of(spec_of("add"), {segment});
    std::vector<position> own;
    for (const auto p : keys)
      if (segment.contains(p)) own.push_back(p);
    REQUIRE(pushed(*server, own, std::vector<float>(own.size(), 1.5F)));
    sum += server->summary().digest;
  }
  CHECK(sum == whole->summary().digest);
}

TEST_CASE("positions that crowd together do not make long probes") {
  const struct {
    const char* what;
    position first, step;
  } table[] = {
      {"neighbours", 1000, 1}, {"at the end", top - 20000, 1}, {"a line", position{1} << 62, 4096}};
  for (const auto& [what, first, step] : table) {
    for (const std::size_t batch : {1, 10000}) {
      sparse_rows rows({0, top - 1}, {4, 0});
      std::vector<position> keys;
      for (std::size_t i = 0; i < 10000; ++i) keys.push_back(first + i * step);
      for (std::size_t i = 0; i < keys.size(); i += batch) {
        const std::vector<float> values(batch, static_cast<float>(i));
        rows.insert({keys.data() + i, batch}, reinterpret_cast<const std::byte*>(values.data()),
                    nullptr);
      }
      CHECK_MESSAGE(rows.scattered(), what);
      CHECK_MESSAGE(rows.worst_displacement() < 200, what);
      std::vector<row_slot> slots(keys.size());
      rows.locate(keys, slots.data());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        REQUIRE(slots[i] < absent_row);
        CHECK(reinterpret_cast<const float*>(rows.values())[slots[i]] ==
              static_cast<float>(i / batch * batch));
      }
      std::vector<placed_row> listed;
      rows.list({keys[100], top}, 50, listed);
      REQUIRE(listed.size() == 50);
      for (std::size_t i = 0; i < 50; ++i) CHECK(listed[i].at == keys[100 + i]);
    }
  }
}

TEST_CASE("no row ever stands farther from its home than the limit, not even in a growing crowd") {
  sparse_rows rows({0, top - 1}, {4, 8});
  const std::vector<std::byte> zeros(8 * 20000);
  rows.insert(random_positions(20000, 12), zeros.data(), zeros.data());
  for (position i = 0; i < 5000; ++i) {
    const position p = (position{1} << 62) + i;
    rows.insert({&p, 1}, zeros.data(), zeros.data());
    if (i % 100 == 0) REQUIRE(rows.worst_displacement() <= sparse_rows::most_displaced);
  }
  CHECK(rows.scattered());
  CHECK(rows.rows() == 25000);
}

TEST_CASE("a scattered table is read in order too, in pieces of any size") {
  auto spec = spec_of("add");
  spec.keys = partitioning::by_range(all_keys);
  const auto t = table_of(spec);
  std::vector<position> keys;
  for (position p = 500; keys.size() < 5000; p += 1 + p % 3) keys.push_back(p);
  REQUIRE(pushed(*t, keys, std::vector<float>(keys.size(), 1)));
  for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{4999}, top}) {
    std::vector<position> got;
    closed_range rest = all_keys;
    for (bool more = true; more && got.size() <= keys.size();) {
      const auto rows = t->read_range(rest, limit);
      got.insert(got.end(), rows.positions.begin(), rows.positions.end());
      more = rows.next.has_value();
      if (more) rest.first = *rows.next;
    }
    CHECK_MESSAGE(got == keys, "limit " << limit);
  }
}

TEST_CASE("positions that are spread are never scattered") {
  sparse_rows rows({1, top}, {4, 8});
  const auto keys = random_positions(200000, 8);
  for (std::size_t i = 0; i < keys.size(); i += 1000) {
    std::vector<position> batch;
    for (std::size_t j = 0; j < 1000; ++j) batch.push_back(keys[j * 200 + i / 1000]);
    const std::vector<std::byte> zeros(8 * 1000);
    rows.insert(batch, zeros.data(), zeros.data());
  }
  CHECK(rows.rows() == keys.size());
  CHECK_FALSE(rows.scattered());
  CHECK(rows.worst_displacement() < 300);
}

TEST_CASE("a growing ftrl table takes at most 1.6 times its payload on average and 2.2 at worst") {
  for (const std::uint64_t segments : {1, 32}) {
    const auto t = table_of(spec_of("ftrl"), equal_segments(segments));
    const auto keys = random_positions(200000, 9);
    double sum = 0, worst = 0;
    int seen = 0;
    for (std::size_t step = 0; step < 2000; ++step) {
      std::vector<position> batch;
      for (std::size_t j = 0; j < 100; ++j) batch.push_back(keys[j * 2000 + step]);
      REQUIRE(pushed(*t, batch, std::vector<float>(100, 1)));
      if (step < 100) continue;
      const double ratio =
          static_cast<double>(t->live_bytes()) / (20 * static_cast<double>(t->rows()));
      sum += ratio;
      worst = std::max(worst, ratio);
      ++seen;
    }
    CHECK(sum / seen <= 1.6);
    CHECK(worst <= 2.2);
  }
}

TEST_CASE("initial values depend on seed, table, key and index, and on nothing else") {
  auto spec = spec_of("add", 2);
  spec.init = {initialiser_spec::kind::normal, 1, 0.5};
  const auto keys = random_positions(2000, 10);
  const auto one = table_of(spec), three = table_of(spec, equal_segments(3));
  const auto values = pulled<float>(*one, keys);
  CHECK(pulled<float>(*three, keys) == values);
  // A row that came to be reads as before.
  REQUIRE(pushed(*three, keys, std::vector<float>(keys.size() * 2, 0)));
  CHECK(pulled<float>(*three, keys) == values);
  double sum = 0, squares = 0;
  for (const double v : values) {
    sum += v;
    squares += (v - 1) * (v - 1);
  }
  CHECK(sum / 4000 == doctest::Approx(1).epsilon(0.05));
  CHECK(squares / 4000 == doctest::Approx(0.25).epsilon(0.1));
  CHECK(pulled<float>(*table_of(spec, {all_keys}, 8), keys) != values);
  spec.name = "other";
  CHECK(pulled<float>(*table_of(spec), keys) != values);
  spec.init = {initialiser_spec::kind::uniform, -2, 3};
  for (const float v : pulled<float>(*table_of(spec), keys)) {
    CHECK(v >= -2);
    CHECK(v <= 3);
  }
}
