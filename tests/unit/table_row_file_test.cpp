#include <doctest/doctest.h>

#include <string>

#include "actors/server/row_file.hpp"
#include "core/random.hpp"
#include "tests/support/tables.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::unique_ptr<table> filled(const std::string& function, std::size_t rows,
                              value_type type = value_type::f32) {
  auto t = table_of(spec_of(function, 2, type), {{0, 1ull << 62}, {(1ull << 62) + 1, ~0ull}});
  std::vector<position> keys;
  for (std::size_t i = 0; i < rows; ++i) keys.push_back(i * (~0ull / (rows + 1)));
  if (type == value_type::f32)
    REQUIRE(pushed(*t, keys, std::vector<float>(2 * rows, 0.3F)));
  else
    REQUIRE(pushed(*t, keys, std::vector<double>(2 * rows, 0.3)));
  return t;
}

// Reads every block; the error of the first fault.
result<table_rows> read_all(const std::string& path) {
  auto file = row_file::open(*posix_file_system(), path);
  if (!file) return file.failure();
  table_rows all;
  for (std::size_t i = 0; i < file->blocks(); ++i) {
    auto some = file->read(i);
    if (!some) return some.failure();
    all.positions.insert(all.positions.end(), some->positions.begin(), some->positions.end());
    all.values.insert(all.values.end(), some->values.begin(), some->values.end());
    all.state.insert(all.state.end(), some->state.begin(), some->state.end());
  }
  return all;
}

}  // namespace

TEST_CASE("rows come back as they were written, with or without their state") {
  const temporary_folder folder;
  const auto path = folder / "weights.rows";
  for (const auto type : {value_type::f32, value_type::f64})
    for (const std::size_t rows : {0, 1, 1000, 150000})
      for (const bool with_state : {false, true}) {
        const auto t = filled("adam", rows, type);
        const auto wrote = write_rows(*posix_file_system(), path, *t, with_state);
        REQUIRE(wrote);
        CHECK(wrote->digest == t->summary().digest);
        const auto file = row_file::open(*posix_file_system(), path);
        REQUIRE(file);
        CHECK(file->facts().table == "weights");
        CHECK(file->facts().width == 2);
        CHECK(file->facts().type == type);
        CHECK(file->facts().rows == rows);
        CHECK(file->facts().keys.hashes());
        CHECK(file->facts().digest == t->summary().digest);
        const auto expected = t->read_range(all_keys, 1 << 20, with_state);
        const auto got = read_all(path);
        REQUIRE(got);
        CHECK(got->positions == expected.positions);
        CHECK(got->values == expected.values);
        CHECK(got->state == expected.state);
      }
}

TEST_CASE("a dense table's file says how its keys are laid out") {
  const temporary_folder folder;
  auto spec = spec_of("sgd");
  spec.kind = table_kind::dense;
  spec.keys = partitioning::by_range({10, 59});
  const auto t = table_of(spec);
  REQUIRE(write_rows(*posix_file_system(), folder / "d.rows", *t, false));
  const auto file = row_file::open(*posix_file_system(), folder / "d.rows");
  REQUIRE(file);
  CHECK_FALSE(file->facts().keys.hashes());
  CHECK(file->facts().keys.bounds() == closed_range{10, 59});
  CHECK(file->facts().rows == 50);
}

TEST_CASE("no damage to a file of rows goes unseen") {
  const temporary_folder folder;
  const auto path = folder / "weights.rows";
  REQUIRE(write_rows(*posix_file_system(), path, *filled("ftrl", 40), true));
  const auto whole = read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto text = whole;
    text[i] = static_cast<char>(text[i] ^ 0x41);
    write_file(path, text);
    const auto got = read_all(path);
    REQUIRE_MESSAGE(!got, "byte " << i);
    CHECK(got.failure().code == errc::damaged);
    CHECK(got.failure().text.find(path) != std::string::npos);
  }
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    write_file(path, whole.substr(0, size));
    CHECK_FALSE(read_all(path));
  }
  write_file(path, whole + "x");
  CHECK_FALSE(read_all(path));
}

TEST_CASE(
    "a file of a newer version is told apart from a damaged one, and a missing one from both") {
  const temporary_folder folder;
  const auto path = folder / "weights.rows";
  REQUIRE(write_rows(*posix_file_system(), path, *filled("sgd", 3), false));
  auto text = read_file(path);
  text[8] = 2;
  write_file(path, text);
  CHECK(read_all(path).failure().text.find("it has version 2 and not 1") != std::string::npos);
  write_file(path, "something else, of some length, that never was a table's file of rows at all");
  CHECK(read_all(path).failure().text.find("it is no file of rows") != std::string::npos);
  CHECK(read_all(folder / "none").failure().code == errc::io);
}
