// Features by blocks: how they are cut, in which order they are visited, and what is computed of
// them.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "actors/scheduler/course.hpp"
#include "apps/linear/blocks/block_order.hpp"
#include "apps/linear/blocks/block_plan.hpp"
#include "apps/linear/blocks/column_block.hpp"
#include "apps/linear/blocks/column_file.hpp"
#include "apps/linear/blocks/row_scores.hpp"
#include "core/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::shared_ptr<const dataset> data_of(const std::string& folder, const std::string& text,
                                       const std::string& format = "libsvm") {
  const auto path = folder + "/rows." + format;
  write_file(path, text);
  data_options options;
  options.format = format;
  options.cache_folder = folder + "/cache";
  options.blocks.rows = 3;  // several blocks of rows
  auto data = dataset::open(posix_file_system(), {path}, options, nullptr);
  REQUIRE_MESSAGE(data.ok(), (data ? "" : data.failure().text));
  return *data;
}

constexpr const char* rows_text =
    "+1 1:1 3:2\n-1 2:1 4:1\n+1 1:1 4:3\n-1 3:1 5:0.5\n+1 2:1 5:1\n-1 1:1 2:1 6:1\n+1\n";

}  // namespace

TEST_CASE("exclusive blocks are the fewest runs of features of which no row has two") {
  temporary_folder folder;
  const auto data = data_of(folder.path(), rows_text);
  const auto plan = plan_blocks(*data, {block_cut::exclusive, 64});
  REQUIRE(plan.ok());
  // A row has the keys 0 and 1, so a cut lies between them; 1 and 2 may share a run, but 1 and 3
  // may not; 3, 4 and 5 may.
  CHECK(plan->keys == std::vector<key_id>{0, 1, 2, 3, 4, 5});
  CHECK(plan->block == std::vector<std::uint32_t>{0, 1, 1, 2, 2, 2});
  CHECK(plan->blocks == 3);
  const auto few = plan_blocks(*data, {block_cut::automatic, 2});
  REQUIRE(few.ok());
  CHECK(few->blocks == 2);  // three would have been too many: ranges
  CHECK(std::is_sorted(few->block.begin(), few->block.end()));
  CHECK(plan_blocks(*data, {block_cut::automatic, 3})->block == plan->block);
  CHECK(plan_blocks(*data, {block_cut::range, 1})->blocks == 1);
  CHECK(plan_blocks(*data, {block_cut::group, 1}).failure().text ==
        "solver.by = \"group\": the training rows do not say which field a feature is of");
}

TEST_CASE("groups are the fields that the data name") {
  temporary_folder folder;
  const auto data =
      data_of(folder.path(), "1 0:7:1 2:3:1\n0 0:8:1 2:3:1\n1 0:7:1 5:4:2\n", "libffm");
  const auto plan = plan_blocks(*data, {block_cut::group, 1});
  REQUIRE(plan.ok());
  CHECK(plan->blocks == 3);
  std::map<key_id, std::uint32_t> of;
  for (std::size_t i = 0; i < plan->keys.size(); ++i) of[plan->keys[i]] = plan->block[i];
  REQUIRE(of.size() == 4);
  std::map<std::uint32_t, int> sizes;
  for (const auto& [key, block] : of) ++sizes[block];
  CHECK(sizes == std::map<std::uint32_t, int>{{0, 2}, {1, 1}, {2, 1}});
}

TEST_CASE(
    "each pass visits each block once, no block again within the gap, and any clock at once") {
  for (const std::uint32_t blocks : {1u, 2u, 5u, 40u})
    for (std::uint32_t gap = 1; gap <= blocks; gap += 1 + blocks / 5)
      for (const bool shuffled : {true, false}) {
        block_order order(blocks, gap, 7, shuffled);
        std::map<std::uint32_t, std::uint64_t> last;
        std::vector<std::uint32_t> all;
        for (std::uint64_t clock = 0; clock < 20 * blocks; ++clock) {
          const auto b = order.at(clock);
          all.push_back(b);
          REQUIRE(b < blocks);
          if (last.count(b)) REQUIRE(clock - last[b] >= gap);
          if (last.count(b)) REQUIRE(clock / blocks == last[b] / blocks + 1);
          last[b] = clock;
        }
        block_order another(blocks, gap, 7, shuffled);
        CHECK(another.at(13 * blocks) == all[13 * blocks]);
        CHECK(another.at(blocks / 2) == all[blocks / 2]);  // an earlier one
      }
  block_order one(40, 1, 1, true), other(40, 1, 2, true);
  int same = 0;
  for (std::uint64_t c = 0; c < 40; ++c) same += one.at(c) == other.at(c) ? 1 : 0;
  CHECK(same < 20);
}

TEST_CASE("columns are written and read back, and damaged ones are refused") {
  CHECK(rc::check([](const std::vector<std::vector<std::uint16_t>>& rows_of_columns, bool ones) {
    std::map<position, std::vector<std::uint32_t>> sorted;
    key_id key = 0;
    for (const auto& rows : rows_of_columns) {
      std::vector<std::uint32_t> own(rows.begin(), rows.end());
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      sorted[mix(key++)] = own;
    }
    column_block columns;
    columns.begin.push_back(0);
    for (const auto& [p, rows] : sorted) {
      columns.keys.push_back(unmix(p));
      columns.row.insert(columns.row.end(), rows.begin(), rows.end());
      columns.begin.push_back(static_cast<std::uint32_t>(columns.row.size()));
    }
    if (!ones)
      for (std::size_t e = 0; e < columns.row.size(); ++e)
        columns.value.push_back(static_cast<float>(e) / 2);
    byte_writer out;
    encode(columns, out);
    const auto back = decode_columns(out.bytes(), 0x10000);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->keys == columns.keys);
    RC_ASSERT(back->begin == columns.begin);
    RC_ASSERT(back->row == columns.row);
    RC_ASSERT(back->value == columns.value);
    for (std::size_t cut = 0; cut < out.size(); cut += 1 + out.size() / 20)
      RC_ASSERT(!decode_columns({out.bytes().data(), cut}, 0x10000).has_value());
    if (!columns.row.empty()) {
      const auto largest = *std::max_element(columns.row.begin(), columns.row.end());
      RC_ASSERT(!decode_columns(out.bytes(), largest).has_value());
    }
  }));
}

TEST_CASE(
    "a slot's columns hold exactly its rows, are made once, and are made again when damaged") {
  temporary_folder folder;
  const auto files = posix_file_system();
  const auto data = data_of(folder.path(), rows_text);
  const auto plan = plan_blocks(*data, {block_cut::exclusive, 64});
  REQUIRE(plan.ok());
  std::map<std::pair<std::uint64_t, key_id>, float> entries;
  std::string made;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    const auto first = slot_part(data->rows(), 2, slot).first;
    auto file = column_file::open(files, *data, *plan, 2, slot);
    REQUIRE(file.ok());
    CHECK((*file)->blocks() == 3);
    for (std::size_t b = 0; b < 3; ++b) {
      CHECK((*file)->find(b) == nullptr);
      const auto columns = (*file)->load(b);
      REQUIRE(columns.ok());
      CHECK((*file)->find(b) == *columns);
      CHECK((*columns)->exclusive);
      for (std::size_t k = 0; k < (*columns)->columns(); ++k)
        for (auto e = (*columns)->begin[k]; e < (*columns)->begin[k + 1]; ++e)
          entries[{first + (*columns)->row[e], (*columns)->keys[k]}] =
              (*columns)->value.empty() ? 1 : (*columns)->value[e];
    }
  }
  CHECK(entries == std::map<std::pair<std::uint64_t, key_id>, float>{{{0, 0}, 1},
                                                                     {{0, 2}, 2},
                                                                     {{1, 1}, 1},
                                                                     {{1, 3}, 1},
                                                                     {{2, 0}, 1},
                                                                     {{2, 3}, 3},
                                                                     {{3, 2}, 1},
                                                                     {{3, 4}, 0.5f},
                                                                     {{4, 1}, 1},
                                                                     {{4, 4}, 1},
                                                                     {{5, 0}, 1},
                                                                     {{5, 1}, 1},
                                                                     {{5, 5}, 1}});
  std::string path;
  const auto cache = folder.path() + "/cache";
  const auto names = files->list(cache);
  REQUIRE(names.ok());
  for (const auto& name : *names)
    if (name.find(".blocks-") != std::string::npos && name.find(".lock") == std::string::npos)
      path = cache + "/" + name;
  REQUIRE(!path.empty());
  auto text = *read_text(*files, path, 1 << 20);
  text.resize(text.size() - 5);
  REQUIRE(write_text_atomically(*files, path, text).ok());
  for (std::uint32_t slot = 0; slot < 2; ++slot)
    CHECK(column_file::open(files, *data, *plan, 2, slot).ok());
}

TEST_CASE("a memory bound is kept, but for the block in use") {
  temporary_folder folder;
  const auto data = data_of(folder.path(), rows_text);
  const auto plan = plan_blocks(*data, {block_cut::exclusive, 64});
  auto file = column_file::open(posix_file_system(), *data, *plan, 1, 0, 1);
  REQUIRE(file.ok());
  REQUIRE((*file)->load(0).ok());
  REQUIRE((*file)->load(1).ok());
  CHECK((*file)->find(0) == nullptr);
  CHECK((*file)->find(1) != nullptr);
}

namespace {

// Random columns over `rows` rows.
column_block random_columns(std::uint64_t seed, std::size_t rows, std::size_t count, bool ones) {
  random_source random(seed);
  column_block columns;
  columns.begin.push_back(0);
  std::vector<int> used(rows);
  for (std::size_t k = 0; k < count; ++k) {
    columns.keys.push_back(unmix(k + 1));
    for (std::size_t i = 0; i < rows; ++i)
      if (random.below(3) == 0) {
        columns.row.push_back(static_cast<std::uint32_t>(i));
        if (!ones) columns.value.push_back(static_cast<float>(random.normal()));
        columns.exclusive = columns.exclusive && used[i]++ == 0;
      }
    columns.begin.push_back(static_cast<std::uint32_t>(columns.row.size()));
  }
  return columns;
}

std::vector<double> losses(loss_kind loss, const column_block& columns,
                           const std::vector<double>& values, const std::vector<double>& labels) {
  std::vector<double> scores(labels.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    for (auto e = columns.begin[k]; e < columns.begin[k + 1]; ++e)
      scores[columns.row[e]] +=
          values[k] * (columns.value.empty() ? 1 : static_cast<double>(columns.value[e]));
  std::vector<double> all;
  for (std::size_t i = 0; i < labels.size(); ++i)
    all.push_back(evaluate_loss(loss, scores[i], labels[i]).value);
  return all;
}

double sum(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

TEST_CASE("the pushed bound holds wherever the values may move") {
  for (const auto loss : {loss_kind::logistic, loss_kind::squared, loss_kind::squared_hinge})
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      random_source random(seed);
      const bool ones = seed % 2 == 0;
      const std::size_t columns_count = seed % 3 == 0 ? 1 : 4;
      const auto columns = random_columns(seed, 20, columns_count, ones);
      std::vector<double> labels, weights;
      for (int i = 0; i < 20; ++i) labels.push_back(random.below(2) ? 1 : -1);
      row_scores scores(loss, labels, weights);
      std::vector<double> zero(columns_count), at(columns_count), regions(columns_count);
      for (auto& x : at) x = random.normal();
      for (auto& r : regions) r = random.unit() * 3;
      scores.move(columns, zero, at);
      std::vector<std::uint32_t> which(columns_count);
      std::iota(which.begin(), which.end(), 0u);
      std::vector<double> numbers(2 * columns_count);
      scores.gradient(columns, regions, which, numbers);
      const double here = sum(losses(loss, columns, at, labels));
      for (int trial = 0; trial < 20; ++trial) {
        auto there = at;
        double bound = here;
        for (std::size_t k = 0; k < columns_count; ++k) {
          const double d = (2 * random.unit() - 1) * regions[k];
          there[k] += d;
          bound += numbers[2 * k] * d + numbers[2 * k + 1] * d * d / 2;
        }
        REQUIRE(sum(losses(loss, columns, there, labels)) <= bound + 1e-6);
      }
      // And the gradient is one.
      for (std::size_t k = 0; k < columns_count; ++k) {
        auto up = at, down = at;
        up[k] += 1e-5;
        down[k] -= 1e-5;
        const double slope =
            (sum(losses(loss, columns, up, labels)) - sum(losses(loss, columns, down, labels))) /
            2e-5;
        REQUIRE(slope == doctest::Approx(numbers[2 * k]).epsilon(1e-4));
      }
    }
}

TEST_CASE("scores that are carried along are those that are added up anew, bit by bit") {
  random_source random(3);
  const auto a = random_columns(1, 50, 5, false), b = random_columns(2, 50, 3, true);
  row_scores carried(loss_kind::logistic, std::vector<double>(50, 1), {});
  std::vector<double> in_a(5), in_b(3);
  for (int step = 0; step < 500; ++step) {
    auto& values = step % 2 ? in_a : in_b;
    const auto before = values;
    for (auto& x : values) x = random.below(4) == 0 ? 0 : random.normal() * 3;
    carried.move(step % 2 ? a : b, before, values);
  }
  row_scores anew(loss_kind::logistic, std::vector<double>(50, 1), {});
  anew.move(b, std::vector<double>(3), in_b);
  anew.move(a, std::vector<double>(5), in_a);
  for (std::size_t i = 0; i < 50; ++i) CHECK(carried.score(i) == anew.score(i));
}

TEST_CASE("a course ends when objective and violation are within their tolerances") {
  course_settings s;
  s.penalties = {1};
  s.objective_tolerance = 0.01;
  s.violation_tolerance = 0.1;
  course c(s);
  CHECK(!c.on_measured(10, 100, 50).ends);
  CHECK(!c.on_measured(20, 99.5, 20).ends);  // the violation is too large
  CHECK(!c.on_measured(30, 80, 1).ends);     // the objective moves
  CHECK(!c.on_measured(40, std::nullopt, 1).ends);
  CHECK(c.on_measured(50, 80.1, 1).ends);
  CHECK(c.stages().size() == 1);
}

TEST_CASE("a course goes down its penalties, and says from which clock on") {
  course_settings s;
  s.penalties = {8, 2, 1};
  s.objective_tolerance = 0.01;
  course c(s);
  CHECK(c.penalty() == 8);
  CHECK(!c.on_measured(10, 100, {}).arrived);
  CHECK(c.on_measured(20, 100, {}).arrived);
  CHECK(c.penalty() == 2);
  CHECK(!c.on_measured(30, 100, {}).arrived);  // the first at a penalty is compared with none
  const auto second = c.on_measured(40, 100, {});
  CHECK(second.arrived);
  CHECK(!second.ends);
  CHECK(!c.on_measured(50, 50, {}).arrived);
  CHECK(c.on_measured(60, 50, {}).ends);
  REQUIRE(c.stages().size() == 3);
  CHECK(c.stages()[1].first_clock() == 20);
  CHECK(c.stages()[2].first_clock() == 40);
  // A scheduler that starts again goes on from there.
  course again(s);
  again.take_up(c.state(), c.stages());
  CHECK(again.penalty() == 1);
}

TEST_CASE("every tenth stretch passes over nothing") {
  course_settings s;
  s.penalties = {1};
  s.filters = true;
  s.l1 = 1;
  course c(s);
  for (std::uint64_t m = 1; m <= 30; ++m) {
    CHECK(!c.on_measured(m, 100, 1).ends);
    CHECK(c.stages().back().filters() == (m % 10 != 0));
  }
}

TEST_CASE("a slack that has hardly changed makes no stage of its own") {
  course_settings s;
  s.penalties = {1};
  s.filters = true;
  s.l1 = 1;
  course c(s);
  for (std::uint64_t m = 1; m <= 9; ++m)
    (void)c.on_measured(m, 100, 1 + 1e-3 * static_cast<double>(m));
  CHECK(c.stages().size() == 2);
}

TEST_CASE("with values passed over, what seems done is looked at once more without") {
  course_settings s;
  s.penalties = {1};
  s.objective_tolerance = 0.01;
  s.filters = true;
  s.l1 = 1;
  course c(s);
  CHECK(!c.stages().back().filters());  // nothing is known yet
  CHECK(!c.on_measured(10, 100, 100).ends);
  CHECK(c.stages().back().filters());
  CHECK(c.stages().back().slack() == 0.9);
  CHECK(!c.on_measured(20, 90, 25).ends);
  CHECK(c.stages().back().slack() == 0.5);
  CHECK(!c.on_measured(30, 90, 4).ends);
  CHECK(!c.stages().back().filters());
  CHECK(c.on_measured(40, 90, 4).ends);
}
