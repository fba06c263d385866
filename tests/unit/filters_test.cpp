// Every filter: what it encodes comes back, what it loses is within its bound, and nothing that
// comes from outside makes it fall over.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/bytes.hpp"
#include "core/random.hpp"
#include "messages/filters/chain.hpp"
#include "messages/filters/ends.hpp"
#include "messages/filters/filter.hpp"
#include "messages/filters/filter_text.hpp"
#include "messages/filters/registry.hpp"
#include "tests/support/payloads.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// Filters as chains name them: "fixed16 bits=12".
std::unique_ptr<transmission_filter> transmission(const std::string& text,
                                                  const filter_place& place) {
  const auto spec = filter_of(text);
  REQUIRE(spec.ok());
  const auto entry = filter_registry::global().find(spec->name());
  REQUIRE(entry.ok());
  const auto numbers = numbers_of(*spec, *entry);
  REQUIRE(numbers.ok());
  return entry->make_transmission(*numbers, place);
}

std::unique_ptr<value_filter> lossy(const std::string& text, const filter_place& place,
                                    const filter_numbers& given = {}) {
  const auto spec = filter_of(text);
  REQUIRE(spec.ok());
  const auto entry = filter_registry::global().find(spec->name());
  REQUIRE(entry.ok());
  auto numbers = *numbers_of(*spec, *entry);
  for (const auto& [number, value] : given) numbers[number] = value;
  return entry->make_value(numbers, place);
}

filter_place place_of(std::uint32_t numbers, bool doubles = false, std::uint32_t period = 1) {
  filter_place place;
  place.numbers = numbers;
  place.doubles = doubles;
  place.period = period;
  return place;
}

}  // namespace

TEST_CASE(
    "lossless filters give back what they got, and bytes that are cut or changed are refused") {
  for (const std::string name : {"key_cache", "key_delta", "value_delta", "zstd", "lz4"})
    for (const bool small_keys : {true, false}) {
      CAPTURE(name);
      content_memories sender = fresh_memories(), receiver = fresh_memories();
      auto here = place_of(1), there = place_of(1);
      here.memories = &sender;
      there.memories = &receiver;
      const auto out = transmission(name, here), in = transmission(name, there);
      for (std::uint64_t round = 0; round < 20; ++round) {
        const auto keys = positions(500, round / 2, small_keys ? 4000 : 0);
        std::vector<float> values(500);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
        payload message{blob_of(keys), blob_of(values)};
        std::string notes;
        const auto size = message.keys.size() + message.values.size();
        if (!out->encode(message, notes)) continue;
        CHECK(message.keys.size() + message.values.size() <= size);
        for (std::size_t cut = 0; cut < 40;
             ++cut) {  // a spoiled message is damaged, or another one
          random_source random(cut);
          payload spoiled = message;
          auto& part = cut % 2 ? spoiled.keys : spoiled.values;
          if (part.empty()) continue;
          auto [bytes, writable] = blob::uninitialised(part.size());
          std::memcpy(writable, part.data(), part.size());
          writable[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
          part = cut % 3 == 0 ? bytes.part(0, random.below(bytes.size())) : bytes;
          content_memories other = fresh_memories();
          auto elsewhere = place_of(1);
          elsewhere.memories = &other;
          (void)transmission(name, elsewhere)->decode(spoiled, notes);
        }
        REQUIRE(in->decode(message, notes) == undone::done);
        CHECK(items_of<position>(message.keys) == keys);
        CHECK(items_of<float>(message.values) == values);
      }
    }
}

TEST_CASE("notes that nobody wrote are damaged") {
  for (const std::string name : {"key_cache", "key_delta", "value_delta", "zstd", "lz4", "fixed8",
                                 "fixed16", "fixed8 bits=5", "fixed16 bits=12"})
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      random_source random(seed);
      content_memories memory = fresh_memories();
      auto place = place_of(1 + static_cast<std::uint32_t>(random.below(3)), random.below(2) == 1);
      place.memories = &memory;
      std::string bytes(random.below(200), '\0');
      for (auto& b : bytes) b = static_cast<char>(random.bits());
      std::string notes(random.below(24), '\0');
      for (auto& c : notes) c = static_cast<char>(random.bits());
      const auto both = blob::copy_of(span<const char>(bytes.data(), bytes.size()));
      payload message{both, both};
      (void)transmission(name, place)->decode(message, notes);  // it returns, and that is all
    }
}

TEST_CASE("keys of all shapes are packed and come back") {
  CHECK(rc::check("hashed keys", [](const std::vector<key_id>& some) {
    std::set<position> all;
    for (const auto key : some) all.insert(mix(key));
    const std::vector<position> keys(all.begin(), all.end());
    const auto filter = transmission("key_delta", place_of(1));
    payload message{blob_of(keys), {}};
    std::string notes;
    if (!filter->encode(message, notes)) return;
    RC_ASSERT(filter->decode(message, notes) == undone::done);
    RC_ASSERT(items_of<position>(message.keys) == keys);
  }));
  CHECK(rc::check("keys of a range", [](const std::vector<std::uint16_t>& some) {
    filter_place place;
    place.keys = partitioning::by_range({5, 5 + 0xffff});
    std::set<position> all;
    for (const auto key : some) all.insert(place.keys.position_of(key + key_id{5}));
    const std::vector<position> keys(all.begin(), all.end());
    const auto filter = transmission("key_delta", place);
    payload message{blob_of(keys), {}};
    std::string notes;
    if (!filter->encode(message, notes)) return;
    RC_ASSERT(filter->decode(message, notes) == undone::done);
    RC_ASSERT(items_of<position>(message.keys) == keys);
  }));
}

TEST_CASE("small keys of a hashed table take the bits that they have") {
  const auto keys = positions(4096, 3, 20000);
  const auto filter = transmission("key_delta", place_of(1));
  payload message{blob_of(keys), {}};
  std::string notes;
  REQUIRE(filter->encode(message, notes));
  CHECK(message.keys.size() < 4096 * 15 / 8 + 32 * 10);
}

TEST_CASE("what short floats and fixed points round to is sent without a further loss") {
  for (const std::string name : {"bf16", "f16", "fixed8", "fixed16", "fixed8 bits=4",
                                 "fixed8 bits=7", "fixed16 bits=9", "fixed16 bits=15"})
    for (const bool doubles : {false, true})
      for (const std::uint32_t numbers : {1u, 2u, 3u, 10u}) {
        CAPTURE(name);
        CAPTURE(doubles);
        CAPTURE(numbers);
        const auto place = place_of(numbers, doubles);
        auto values = normals(numbers * 700, 5);
        for (std::size_t i = 0; i < values.size(); i += 13) values[i] = 0;
        values[3] = -0.0f;
        std::vector<double> wide(values.begin(), values.end());
        payload rows{blob_of(positions(700, 2)), doubles ? blob_of(wide) : blob_of(values)};
        lossy(name, place)->apply(rows, {1, 2, 3, 0});
        // Any part of the rows is packed by itself.
        for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 700}, {100, 400}}) {
          const auto row = place.row_bytes();
          auto part = blob::copy_of(
              span<const std::byte>(rows.values.data() + from * row, (to - from) * row));
          payload message{{}, part};
          std::string notes;
          const auto filter = transmission(name, place);
          REQUIRE(filter->encode(message, notes));
          const bool bytes = name.rfind("fixed8", 0) == 0;
          CHECK(message.values.size() * (doubles ? (bytes ? 7 : 3) : (bytes ? 3 : 1)) <
                part.size() * (bytes || doubles ? 1 : 2));
          REQUIRE(filter->decode(message, notes) == undone::done);
          CHECK(message.values == part);
        }
      }
}

TEST_CASE("rounding errors are within what the filters promise") {
  const auto values = normals(4096, 9);
  const auto error_of = [&](const std::string& name, auto bound) {
    payload rows{blob_of(positions(4096, 2)), blob_of(values)};
    lossy(name, place_of(1))->apply(rows, {1, 2, 3, 0});
    const auto got = items_of<float>(rows.values);
    for (std::size_t b = 0; b < got.size(); b += 256) {
      float most = 0;
      for (std::size_t i = b; i < b + 256; ++i) most = std::max(most, std::fabs(values[i]));
      for (std::size_t i = b; i < b + 256; ++i) REQUIRE(bound(values[i], got[i], most));
    }
  };
  error_of("bf16", [](float x, float y, float) { return std::fabs(x - y) <= std::fabs(x) / 256; });
  error_of("f16",
           [](float x, float y, float) { return std::fabs(x - y) <= std::fabs(x) / 2048 + 3e-8f; });
  error_of("fixed8", [](float x, float y, float most) { return std::fabs(x - y) < most / 63.5f; });
  error_of("fixed16",
           [](float x, float y, float most) { return std::fabs(x - y) < most / 16383.5f; });
  error_of("fixed8 bits=5",
           [](float x, float y, float most) { return std::fabs(x - y) < most / 7.5f; });
  error_of("fixed16 bits=12",
           [](float x, float y, float most) { return std::fabs(x - y) < most / 1023.5f; });
}

TEST_CASE("fewer bits make fewer bytes") {
  const auto values = normals(256, 3);
  for (const auto& [name, bits] : {std::pair<std::string, std::size_t>{"fixed8 bits=4", 4},
                                   {"fixed8 bits=5", 5},
                                   {"fixed8", 8},
                                   {"fixed16 bits=8", 8},
                                   {"fixed16 bits=13", 13},
                                   {"fixed16", 16}}) {
    CAPTURE(name);
    payload message{{}, blob_of(values)};
    lossy(name, place_of(1))->apply(message, {1, 2, 3, 0});
    std::string notes;
    REQUIRE(transmission(name, place_of(1))->encode(message, notes));
    CHECK(message.values.size() == 256 * bits / 8 + 4);  // one run
  }
}

// A unit below 2^-1022 would have no inverse.
TEST_CASE("the smallest doubles are rounded to multiples of 2^-1000, and sent as they are if not") {
  const std::vector<double> values{4.9e-324, -0x1p-1000, 0x1.8p-1000, -0.0, 0, 3e-310};
  for (const std::string name : {"fixed8", "fixed16"}) {
    payload rows{blob_of(positions(6, 2)), blob_of(values)};
    lossy(name, place_of(1, true))->apply(rows, {1, 2, 3, 0});
    const auto got = items_of<double>(rows.values);
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(std::fabs(got[i] - values[i]) <= 0x1p-1000);
    CHECK(got[1] == -0x1p-1000);
    CHECK(std::signbit(got[3]));
    payload message{{}, rows.values};
    std::string notes;
    const auto filter = transmission(name, place_of(1, true));
    if (filter->encode(message, notes)) REQUIRE(filter->decode(message, notes) == undone::done);
    CHECK(message.values == rows.values);
    payload unrounded{{}, blob_of(values)};
    CHECK(!filter->encode(unrounded, notes));
    CHECK(items_of<double>(unrounded.values)[0] == 4.9e-324);
  }
}

TEST_CASE("every f16 and bf16 is itself, and neighbours round to even") {
  for (const std::string name : {"f16", "bf16"})
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      const auto filter = transmission(name, place_of(1));
      payload message{{}, blob_of(std::vector<std::uint16_t>{static_cast<std::uint16_t>(code)})};
      REQUIRE(filter->decode(message, {}) == undone::done);
      const float x = items_of<float>(message.values)[0];
      if (!std::isfinite(x) || (name == "f16" && (code & 0x7c00) == 0x7c00)) continue;
      payload rows{{}, blob_of(std::vector<float>{x})};
      lossy(name, place_of(1))->apply(rows, {});
      REQUIRE(items_of<float>(rows.values)[0] == x);
    }
  payload rows{{}, blob_of(std::vector<float>{1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 3.4e38f, -70000.f})};
  lossy("bf16", place_of(1))->apply(rows, {});
  CHECK(items_of<float>(rows.values)[0] == 1.0f);
  CHECK(items_of<float>(rows.values)[1] == 1 + 0x1p-6f);
  rows = {{}, blob_of(std::vector<float>{70000, -70000, 65504})};
  lossy("f16", place_of(1))->apply(rows, {});
  CHECK(items_of<float>(rows.values) == std::vector<float>{65504, -65504, 65504});
}

TEST_CASE("bounds are never rounded down") {
  random_source random(4);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(static_cast<float>(random.normal()));
    values.push_back(std::exp2(static_cast<float>(random.normal()) * 8));
  }
  values[1] = 0;
  for (const auto& [name, most] : {std::pair<std::string, float>{"bf16", 1.01f},
                                   {"f16", 1.01f},
                                   {"fixed8", 1.0906f},
                                   {"fixed16", 1.0007f}}) {
    CAPTURE(name);
    auto some = values;
    if (name == "f16")
      for (auto& x : some) x = std::clamp(x, -60000.f, 60000.f);
    payload rows{blob_of(positions(1000, 2)), blob_of(some)};
    lossy(name, place_of(2, false, 2))->apply(rows, {1, 2, 3, 0});
    const auto got = items_of<float>(rows.values);
    for (std::size_t i = 1; i < some.size(); i += 2) {
      REQUIRE(got[i] >= some[i]);
      REQUIRE(got[i] <= some[i] * most + 1e-7f);
    }
    CHECK(got[1] == 0);
    payload message{{}, rows.values};
    std::string notes;
    const auto filter = transmission(name, place_of(2, false, 2));
    REQUIRE(filter->encode(message, notes));
    REQUIRE(filter->decode(message, notes) == undone::done);
    CHECK(message.values == rows.values);
  }
}

TEST_CASE("bounds in fewer bits are packed in more runs, and come back") {
  random_source random(5);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(static_cast<float>(random.normal()));
    values.push_back(
        std::exp2(static_cast<float>(i / 100 + random.unit())));  // an octave at a time
  }
  for (const std::string name : {"fixed8 bits=5", "fixed16 bits=12"}) {
    CAPTURE(name);
    payload rows{blob_of(positions(1000, 2)), blob_of(values)};
    lossy(name, place_of(2, false, 2))->apply(rows, {1, 2, 3, 0});
    const auto got = items_of<float>(rows.values);
    for (std::size_t i = 1; i < values.size(); i += 2) {
      REQUIRE(got[i] >= values[i]);
      REQUIRE(got[i] <= values[i] * 1.0906f);
    }
    payload message{{}, rows.values};
    std::string notes;
    const auto filter = transmission(name, place_of(2, false, 2));
    REQUIRE(filter->encode(message, notes));
    CHECK(message.values.size() < rows.values.size() / 2);
    REQUIRE(filter->decode(message, notes) == undone::done);
    CHECK(message.values == rows.values);
  }
}

TEST_CASE("stochastic rounding and random skips leave the expectation as it is") {
  // 10^5 draws of the same row; the deviation is within 5 standard errors.
  constexpr int draws = 100000;
  const std::vector<float> values{0.3f, -1.7f, 0.001f, 2.0f};
  for (const std::string name : {"fixed8", "fixed8 bits=4", "random_skip", "random_skip by size"}) {
    CAPTURE(name);
    std::vector<double> sums(values.size()), squares(values.size());
    std::size_t sent = 0;
    const auto keys = positions(4, 1);
    const bool rounds = name.rfind("fixed8", 0) == 0;
    const auto filter =
        rounds ? lossy(name, place_of(1))
               : lossy("random_skip", place_of(1), {{"skip", 0.75}, {"by_size", name.size() > 12}});
    for (int i = 0; i < draws; ++i) {
      payload rows{blob_of(keys), blob_of(values)};
      filter->apply(rows, {1, 0, static_cast<std::uint64_t>(i), 0});
      const auto left = items_of<position>(rows.keys);
      const auto got = items_of<float>(rows.values);
      sent += left.size();
      for (std::size_t r = 0; r < left.size(); ++r) {
        const auto at =
            static_cast<std::size_t>(std::find(keys.begin(), keys.end(), left[r]) - keys.begin());
        sums[at] += static_cast<double>(got[r]);
        squares[at] += static_cast<double>(got[r]) * static_cast<double>(got[r]);
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double mean = sums[i] / draws;
      const double spread = std::sqrt(std::max(0.0, squares[i] / draws - mean * mean) / draws);
      CHECK(std::fabs(mean - static_cast<double>(values[i])) <= 5 * spread + 1e-9);
    }
    if (!rounds) CHECK(std::fabs(static_cast<double>(sent) / draws - 1) < 0.02);
  }
}

TEST_CASE("the same draw is made for the same push, and another for another") {
  const auto keys = positions(200, 1);
  const auto values = normals(200, 2);
  for (const std::string name : {"fixed8", "random_skip"}) {
    const auto left = [&](filter_moment when) {
      payload rows{blob_of(keys), blob_of(values)};
      lossy(name, place_of(1))->apply(rows, when);
      return items_of<float>(rows.values);
    };
    CHECK(left({1, 2, 3, 0}) == left({1, 2, 3, 0}));
    CHECK(left({1, 2, 3, 0}) != left({1, 2, 4, 0}));
    CHECK(left({1, 2, 3, 0}) != left({1, 3, 3, 0}));
    CHECK(left({1, 2, 3, 0}) != left({2, 2, 3, 0}));
  }
}

TEST_CASE("what is not significant is kept and comes later: nothing is lost") {
  for (const bool doubles : {true, false}) {
    const auto filter = lossy("significant", place_of(1, doubles), {{"threshold", 2}});
    std::map<position, double> pushed, delivered;
    std::size_t rows_in = 0, rows_out = 0;
    for (std::uint64_t clock = 0; clock < 200; ++clock) {
      const auto keys = positions(50, clock % 10, 100);
      std::vector<double> values;
      // Whole eighths: their sums are exact.
      for (const float x : normals(50, clock)) values.push_back(std::round(x * 8.0) / 8);
      for (std::size_t i = 0; i < keys.size(); ++i) pushed[keys[i]] += values[i];
      payload rows{blob_of(keys), doubles
                                      ? blob_of(values)
                                      : blob_of(std::vector<float>(values.begin(), values.end()))};
      filter->apply(rows, {1, 0, clock, 0});
      const auto left = items_of<position>(rows.keys);
      rows_in += keys.size();
      rows_out += left.size();
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double x = doubles ? items_of<double>(rows.values)[i]
                                 : static_cast<double>(items_of<float>(rows.values)[i]);
        CHECK(std::fabs(x) >= 2);
        delivered[left[i]] += x;
      }
      for (const auto& [key, sum] : pushed) REQUIRE(std::fabs(sum - delivered[key]) < 2);
    }
    CHECK(rows_out * 2 < rows_in);
    // The last clock brings the rest.
    const std::vector<position> key = positions(50, 3, 100);
    payload rows{blob_of(std::vector<position>{key[7]}),
                 doubles ? blob_of(std::vector<double>{1}) : blob_of(std::vector<float>{1})};
    pushed[key[7]] += 1;
    filter->apply(rows, {1, 0, 200, 0, true});
    const auto left = items_of<position>(rows.keys);
    CHECK(std::is_sorted(left.begin(), left.end()));
    for (std::size_t i = 0; i < left.size(); ++i)
      delivered[left[i]] += doubles ? items_of<double>(rows.values)[i]
                                    : static_cast<double>(items_of<float>(rows.values)[i]);
    for (const auto& [its, sum] : pushed) CHECK(sum == delivered[its]);
  }
}

TEST_CASE("a reader that has gone past its end reads no list from before it") {
  const std::vector<std::byte> three(3);
  byte_reader in{span<const std::byte>(three)};
  (void)in.get<std::uint16_t>();
  (void)in.get<std::uint32_t>();
  CHECK(in.get_all<std::uint8_t>(1).empty());
  CHECK_FALSE(in.ok());
}
