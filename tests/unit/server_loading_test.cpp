#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>

#include "actors/server/loading.hpp"
#include "actors/server/row_file.hpp"
#include "core/random.hpp"
#include "tests/support/tables.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

const auto disk = posix_file_system();

std::shared_ptr<table> on(const std::string& function, std::vector<closed_range> segments,
                          std::optional<partitioning> keys = {}) {
  auto spec = spec_of(function, 2, value_type::f32);
  if (keys) spec.keys = *keys;
  auto made = table::make(spec, 1);
  REQUIRE(made.ok());
  for (const auto& s : segments) REQUIRE((*made)->add_segment(s));
  return std::move(*made);
}

// Two servers' halves of one table, written to "weights.part-0.rows" and "-1".
std::vector<std::shared_ptr<table>> written(const temporary_folder& folder) {
  constexpr position middle = position{1} << 63;
  std::vector<std::shared_ptr<table>> halves{on("adagrad", {{0, middle - 1}}),
                                             on("adagrad", {{middle, ~position{0}}})};
  random_source random(4);
  for (std::size_t h = 0; h < 2; ++h) {
    std::set<position> keys;
    for (int i = 0; i < 5000; ++i) keys.insert(random.below(middle) + (h == 0 ? 0 : middle));
    const std::vector<position> all(keys.begin(), keys.end());
    std::vector<float> values;
    for (std::size_t i = 0; i < 2 * all.size(); ++i)
      values.push_back(static_cast<float>(random.unit()));
    REQUIRE(pushed(*halves[h], all, values));
    REQUIRE(write_rows(*disk, folder / ("weights.part-" + std::to_string(h) + ".rows"), *halves[h],
                       true)
                .ok());
  }
  return halves;
}

pb::LoadPart request_of(const temporary_folder& folder, bool with_state = true,
                        bool replace = false) {
  pb::LoadPart request;
  request.set_folder(folder.path());
  request.add_files("weights.part-0.rows");
  request.add_files("weights.part-1.rows");
  request.set_with_state(with_state);
  request.set_replace(replace);
  return request;
}

}  // namespace

TEST_CASE("servers of any other number take up their own rows, with state, and lose none") {
  const temporary_folder folder;
  const auto before = written(folder);
  hash128 digest = before[0]->summary().digest;
  digest += before[1]->summary().digest;
  const auto third = ~position{0} / 3;
  std::vector<std::shared_ptr<table>> servers{
      on("adagrad", {{0, third}}),
      on("adagrad", {{third + 1, 2 * third}, {3 * third, ~position{0}}}),
      on("adagrad", {{2 * third + 1, 3 * third - 1}})};
  hash128 sum;
  std::uint64_t rows = 0;
  for (auto& t : servers) {
    const auto loaded = load_part(*disk, {t}, request_of(folder));
    INFO(loaded.text());
    REQUIRE(loaded.done());
    rows += loaded.rows();
    sum += t->summary().digest;
  }
  CHECK(rows == before[0]->rows() + before[1]->rows());
  CHECK(sum == digest);
  // The state came too: the next push has the same effect.
  const auto at = before[0]->read_range(all_keys, 1).positions;
  REQUIRE(pushed(*before[0], at, std::vector<float>{1, 1}));
  REQUIRE(pushed(*servers[0], at, std::vector<float>{1, 1}));
  float a[2], b[2];
  REQUIRE(before[0]->pull(at, a, nullptr).ok());
  REQUIRE(servers[0]->pull(at, b, nullptr).ok());
  CHECK(a[0] == b[0]);
  CHECK(a[1] == b[1]);
}

TEST_CASE("what the table held before goes where it is to be replaced") {
  const temporary_folder folder;
  const auto before = written(folder);
  const auto t = on("adagrad", {all_keys});
  const std::vector<position> other{5, 77};
  REQUIRE(pushed(*t, other, std::vector<float>{1, 1, 1, 1}));
  REQUIRE(load_part(*disk, {t}, request_of(folder, true, true)).done());
  CHECK(t->rows() == before[0]->rows() + before[1]->rows());
  REQUIRE(load_part(*disk, {t}, request_of(folder, true, true)).done());
  CHECK(t->rows() == before[0]->rows() + before[1]->rows());
}

TEST_CASE("files of other tables, types and updaters are refused, and both are named") {
  const temporary_folder folder;
  written(folder);
  const auto text_of = [&](std::shared_ptr<table> t, bool with_state = true) {
    const auto loaded = load_part(*disk, {std::move(t)}, request_of(folder, with_state));
    return loaded.done() ? "done" : loaded.text();
  };
  CHECK(text_of(on("ftrl", {all_keys}))
            .find("8 bytes of optimiser state to a row, and the updater of this job 16") !=
        std::string::npos);
  CHECK(text_of(on("ftrl", {all_keys}), false) == "done");
  auto wide = table::make(spec_of("adagrad", 3, value_type::f32), 1);
  CHECK(text_of(std::move(*wide)).find("has 2 values of f32 to a key, and this job 3 of f32") !=
        std::string::npos);
  auto doubles = table::make(spec_of("adagrad", 2, value_type::f64), 1);
  CHECK(text_of(std::move(*doubles)).find("2 of f64") != std::string::npos);
  auto bytes = read_file(folder / "weights.part-1.rows");
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  write_file(folder / "weights.part-1.rows", bytes);
  CHECK(text_of(on("adagrad", {all_keys})).find("is damaged") != std::string::npos);
}
