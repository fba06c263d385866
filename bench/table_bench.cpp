// A server's table against a plain loop over std::unordered_map<uint64_t, float>, and the memory of
// a growing table.
//
// Keys are random and given in ascending position, as clients send them. The updater is sgd at a
// constant rate without penalties; tables and maps are filled before and reused, so no row is made
// while the clock runs. The map is visited in the same order. "1e4 of 1e6": sorted batches of 10^4
// random keys out of 10^6, another one each time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/server/table/table.hpp"
#include "bench/interleaved.hpp"
#include "core/random.hpp"

using namespace troupe;
using namespace troupe::bench;

namespace {

using plain_map = std::unordered_map<std::uint64_t, float>;

std::unique_ptr<table> made(const std::string& function) {
  table_spec spec;
  spec.name = "weights";
  spec.function.name = function;
  auto t = table::make(spec, 1);
  if (!t || !(*t)->add_segment(all_keys)) std::abort();
  return std::move(*t);
}

std::vector<position> random_keys(std::size_t count, std::uint64_t seed) {
  random_source random(seed);
  std::vector<position> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(random.bits());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// All keys as one batch, or in batches of a random choice.
std::vector<std::vector<position>> batches_of(const std::vector<position>& keys, std::size_t size) {
  if (size >= keys.size()) return {keys};
  auto mixed = keys;
  random_source random(3);
  shuffle(mixed.begin(), mixed.end(), random);
  std::vector<std::vector<position>> batches;
  for (std::size_t from = 0; from + size <= mixed.size(); from += size) {
    batches.emplace_back(mixed.begin() + static_cast<std::ptrdiff_t>(from),
                         mixed.begin() + static_cast<std::ptrdiff_t>(from + size));
    std::sort(batches.back().begin(), batches.back().end());
  }
  return batches;
}

struct speeds {
  std::vector<double> push_ratio, pull_ratio, push_rate, pull_rate;
};

void compare(const char* name, std::size_t keys_in_all, std::size_t batch_size) {
  const auto keys = random_keys(keys_in_all, 7);
  const auto batches = batches_of(keys, batch_size);
  const auto t = made("sgd");
  plain_map map;
  const std::vector<float> ones(keys.size(), 1);
  std::vector<float> out(keys.size());
  const auto check = [](const result<void>& done) {
    if (!done) std::abort();
  };
  check(t->apply(keys, ones.data(), {}, nullptr));
  for (const auto k : keys) map[k] = 1;

  std::size_t visited = 0;
  for (const auto& b : batches) visited += b.size();
  const auto repeats = std::max<std::size_t>(1, 2000000 / visited);
  const auto each = [&](auto&& work) {
    return seconds_of([&] {
      for (std::size_t r = 0; r < repeats; ++r)
        for (const auto& b : batches) work(b);
    });
  };
  speeds s;
  const auto done = static_cast<double>(visited * repeats);
  for (int turn = 0; turn < turns; ++turn) {
    const double push = each([&](const auto& b) { check(t->apply(b, ones.data(), {}, nullptr)); });
    const double map_push = each([&](const auto& b) {
      for (std::size_t i = 0; i < b.size(); ++i) map[b[i]] += ones[i];
    });
    const double pull = each([&](const auto& b) { check(t->pull(b, out.data(), nullptr)); });
    const double map_pull = each([&](const auto& b) {
      for (std::size_t i = 0; i < b.size(); ++i) {
        const auto found = map.find(b[i]);
        out[i] = found == map.end() ? 0 : found->second;
      }
    });
    s.push_ratio.push_back(map_push / push);
    s.pull_ratio.push_back(map_pull / pull);
    s.push_rate.push_back(done / push / 1e6);
    s.pull_rate.push_back(done / pull / 1e6);
  }
  std::printf("%-12s %10.1f %10.1f %14.0f %14.0f\n", name, median(s.push_ratio),
              median(s.pull_ratio), median(s.push_rate), median(s.pull_rate));
}

// Live bytes for each key of an f32 table with ftrl, over a growth from 10^5 to 2 * 10^6 keys
// pushed 1000 at a time.
void memory() {
  const auto t = made("ftrl");
  constexpr double payload = 8 + 4 + 8;
  random_source random(11);
  std::vector<double> ratios;
  const std::vector<float> ones(1000, 1);
  while (t->rows() < 2000000) {
    const auto keys = random_keys(1000, random.bits());
    if (!t->apply(keys, ones.data(), {}, nullptr)) std::abort();
    if (t->rows() < 100000) continue;
    ratios.push_back(static_cast<double>(t->live_bytes()) /
                     (payload * static_cast<double>(t->rows())));
  }
  double sum = 0;
  for (const double r : ratios) sum += r;
  std::printf("\nlive bytes of f32 with ftrl, as a multiple of key + value + state (20 bytes):\n");
  std::printf("average %.2f, worst %.2f (growing included: it is done in place)\n",
              sum / static_cast<double>(ratios.size()),
              *std::max_element(ratios.begin(), ratios.end()));
}

}  // namespace

int main() {
  std::printf(
      "sgd on f32 rows of width 1, one thread; ratios to std::unordered_map, medians of %d turns\n",
      turns);
  std::printf("%-12s %10s %10s %14s %14s\n", "keys", "push", "pull", "push Mkeys/s",
              "pull Mkeys/s");
  compare("1e4", 10000, 10000);
  compare("1e5", 100000, 100000);
  compare("1e6", 1000000, 1000000);
  compare("1e4 of 1e6", 1000000, 10000);
  memory();
}
