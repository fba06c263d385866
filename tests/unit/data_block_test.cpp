#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "actors/worker/data/batch.hpp"
#include "actors/worker/data/block.hpp"
#include "actors/worker/data/block_builder.hpp"
#include "core/random.hpp"

using namespace troupe;

namespace {

struct row_kinds {
  bool values, fields, weights, groups, ids;
};

example random_row(random_source& random, row_kinds kinds, std::uint64_t keys) {
  example row;
  row.label = static_cast<double>(random.below(3));
  if (kinds.weights && random.below(2)) row.weight = 0.5;
  if (kinds.groups && random.below(2)) row.group = random.bits();
  if (kinds.ids && random.below(2)) row.id = "row " + std::to_string(random.below(100));
  for (auto n = random.below(8); n > 0; --n) {
    feature one;
    one.key = unmix(random.below(keys) * 0x9E3779B97F4A7C15ull);
    if (kinds.values) one.value = static_cast<float>(random.normal());
    if (kinds.fields) one.field = static_cast<std::uint32_t>(random.below(4));
    const auto same = [&](const feature& f) { return f.key == one.key && f.field == one.field; };
    if (std::none_of(row.features.begin(), row.features.end(), same)) row.features.push_back(one);
  }
  return row;
}

// Features in the order that a block gives them.
example sorted(example row) {
  std::stable_sort(row.features.begin(), row.features.end(),
                   [](const feature& a, const feature& b) { return mix(a.key) < mix(b.key); });
  return row;
}

bool same(const example& a, const example& b) {
  const auto equal = [](const feature& x, const feature& y) {
    return x.key == y.key && x.value == y.value && x.field == y.field;
  };
  return a.label == b.label && a.weight == b.weight && a.id == b.id && a.group == b.group &&
         std::equal(a.features.begin(), a.features.end(), b.features.begin(), b.features.end(),
                    equal);
}

std::vector<example> random_rows(std::uint64_t seed, std::size_t count, std::uint64_t keys) {
  random_source random(seed);
  const row_kinds kinds{random.below(2) == 0, random.below(2) == 0, random.below(2) == 0,
                        random.below(2) == 0, random.below(2) == 0};
  std::vector<example> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(random_row(random, kinds, keys));
  return rows;
}

block block_of(const std::vector<example>& rows) {
  block_builder builder({});
  for (const auto& row : rows) builder.add(row);
  return builder.finish();
}

}  // namespace

TEST_CASE("a block gives back the rows that were put in, also after a trip through bytes") {
  CHECK(rc::check([](std::uint64_t seed, std::uint8_t count) {
    const auto rows = random_rows(seed, count, 40);
    const auto made = block_of(rows);
    byte_writer bytes;
    encode(made, bytes);
    const auto read = decode_block(bytes.bytes());
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->rows() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      RC_ASSERT(same(made.row(i), sorted(rows[i])));
      RC_ASSERT(same(read->row(i), sorted(rows[i])));
    }
  }));
}

TEST_CASE("what is the same in all rows takes no space in a block") {
  example plain;
  plain.features = {{7, 1, 0}, {9, 1, 0}};
  const auto made = block_of({plain, plain});
  CHECK(made.keys.size() == 2);
  CHECK(made.value.empty());
  CHECK(made.field.empty());
  CHECK(made.weight.empty());
  CHECK(made.group.empty());
  CHECK(made.has_id.empty());
  CHECK(made.id_begin.empty());
}

TEST_CASE("a block ends at its number of rows or at its size, whichever comes first") {
  example wide;
  for (key_id key = 0; key < 100; ++key) wide.features.push_back({key, 1, 0});
  block_builder by_rows({3, 1 << 20});
  block_builder by_bytes({1000, 5000});
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(by_rows.full());
    CHECK_FALSE(by_bytes.full());
    by_rows.add(wide);
    by_bytes.add(wide);
  }
  CHECK(by_rows.full());
  CHECK(by_bytes.full());
  CHECK(by_rows.finish().first_row == 0);
  by_rows.add(wide);
  CHECK(by_rows.finish().first_row == 3);
}

TEST_CASE("bytes that are no block are refused, whatever is wrong with them") {
  byte_writer whole;
  encode(block_of(random_rows(5, 50, 30)), whole);
  CHECK(rc::check([&](std::uint32_t at, std::uint8_t value, bool cut) {
    auto bytes = whole.bytes();
    at %= static_cast<std::uint32_t>(bytes.size());
    if (cut)
      bytes.resize(at);
    else
      bytes[at] = static_cast<std::byte>(value);
    // A changed byte may still make a block (another label, say), but never one that breaks its
    // promises.
    const auto read = decode_block(bytes);
    if (cut) RC_ASSERT(!read.has_value());
    for (std::size_t i = 0; read && i < read->rows(); ++i) (void)read->row(i);
  }));
}

TEST_CASE("a batch has the rows asked for, in order, over its own sorted keys") {
  batch_maker maker;
  batch cut;  // both reused from case to case
  CHECK(rc::check([&](std::uint64_t seed, std::uint8_t count) {
    const auto rows = random_rows(seed, count + std::size_t{1}, seed % 2 ? 30 : 20'000);
    const auto from = block_of(rows);
    random_source random(seed);
    std::vector<std::uint32_t> chosen(random.below(20));
    for (auto& row : chosen) row = static_cast<std::uint32_t>(random.below(rows.size()));
    maker.make(from, chosen, cut);

    RC_ASSERT(cut.rows() == chosen.size());
    for (std::size_t k = 1; k < cut.keys.size(); ++k)
      RC_ASSERT(mix(cut.keys[k - 1]) < mix(cut.keys[k]));
    std::vector<bool> used(cut.keys.size());
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      const auto expected = sorted(rows[chosen[r]]);
      example got;
      got.id = expected.id;  // a batch knows neither
      got.group = expected.group;
      got.label = cut.label[r];
      if (!cut.weight.empty()) got.weight = cut.weight[r];
      for (auto e = cut.row_begin[r]; e < cut.row_begin[r + 1]; ++e) {
        used[cut.column[e]] = true;
        got.features.push_back({cut.keys[cut.column[e]], cut.value.empty() ? 1 : cut.value[e],
                                cut.field.empty() ? 0 : cut.field[e]});
      }
      RC_ASSERT(same(got, expected));
    }
    RC_ASSERT(std::all_of(used.begin(), used.end(), [](bool u) { return u; }));
  }));
}

TEST_CASE("a batch over many thousands of keys is complete") {
  std::vector<example> rows(300);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (key_id key = 0; key < 100; ++key) rows[i].features.push_back({i * 100 + key, 1, 0});
  const auto from = block_of(rows);
  std::vector<std::uint32_t> all(rows.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  batch_maker maker;
  batch cut;
  maker.make(from, all, cut);
  CHECK(cut.keys == from.keys);
  CHECK(cut.column == from.column);
  maker.make(from, span<const std::uint32_t>(all).subspan(7, 1), cut);
  CHECK(cut.keys.size() == 100);
  maker.make(from, {}, cut);
  CHECK(cut.keys.empty());
  CHECK(cut.rows() == 0);
}
