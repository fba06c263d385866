#include <doctest/doctest.h>

#include "actors/worker/data/dataset.hpp"
#include "tests/support/real_data.hpp"
#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::string failure_of(const temporary_folder& folder, const std::string& text,
                       data_options options = {}) {
  write_file(folder / "a", text);
  auto set = open_data(folder, {folder / "a"}, std::move(options));
  REQUIRE_FALSE(set);
  CHECK(set.failure().code == errc::bad_data);
  const auto prefix = folder.path() + "/";
  auto reason = set.failure().text;
  REQUIRE(reason.find(prefix) == 0);
  return reason.substr(prefix.size());
}

}  // namespace

TEST_CASE("a data set knows its rows, keys and labels") {
  const temporary_folder folder;
  write_file(folder / "a", "# head\n1 3:1 9:1\r\n\n-1 5:2\n1\n");
  write_file(folder / "b", "1 18446744073709551615:1");
  const auto set = opened(folder, {folder / "a", folder / "b"});
  const auto& facts = set->facts();
  CHECK(set->rows() == 4);
  CHECK(facts.entries == 4);
  CHECK(facts.longest_row == 2);
  CHECK(facts.smallest_key == 2);
  CHECK(facts.largest_key == 18446744073709551614u);
  CHECK(facts.labels == std::map<double, std::uint64_t>{{-1, 1}, {1, 3}});
  CHECK(facts.labels_complete);
  CHECK(facts.smallest_label == -1);
  CHECK_FALSE(facts.all_values_one);
  auto rows = set->load_block(0);
  REQUIRE(rows);
  CHECK((*rows)->row(2).features.empty());
  CHECK((*rows)->row(3).features[0].key == 18446744073709551614u);
}

TEST_CASE("many distinct labels are counted up to a limit") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "\n";
  write_file(folder / "a", text);
  const auto set = opened(folder, {folder / "a"});
  CHECK(set->facts().labels.size() == data_facts::most_labels);
  CHECK_FALSE(set->facts().labels_complete);
  CHECK(set->facts().largest_label == 99);
}

TEST_CASE("data without rows is a data set without blocks") {
  const temporary_folder folder;
  for (const char* text : {"", "\n\n", "# only\n# comments", "\xEF\xBB\xBF"}) {
    write_file(folder / "a", text);
    const auto set = opened(folder, {folder / "a"});
    CHECK(set->rows() == 0);
    CHECK(set->blocks().empty());
    CHECK(set->facts().smallest_key > set->facts().largest_key);
  }
}

TEST_CASE("five files equal one, however they are packed") {
  const temporary_folder folder;
  const auto lines = random_lines(1000, 1);
  write_file(folder / "whole", joined(lines));
  std::vector<std::string> pieces;
  const std::size_t cuts[] = {0, 3, 411, 411, 800, 1000};
  for (std::size_t i = 0; i < 5; ++i) {
    auto text = joined({lines.begin() + static_cast<std::ptrdiff_t>(cuts[i]),
                        lines.begin() + static_cast<std::ptrdiff_t>(cuts[i + 1])});
    if (i == 3) text.pop_back();  // no newline at the end
    pieces.push_back(folder / ("piece" + std::to_string(i)));
    write_file(pieces.back(), i == 1 ? gzipped(text) : i == 4 ? xzipped(text) : text);
  }
  const auto whole = opened(folder, {folder / "whole"}), cut = opened(folder, pieces);
  CHECK(whole->rows() == 1000);
  CHECK(whole->blocks().size() == 16);
  CHECK(whole->digest() == cut->digest());
  CHECK(content(*whole) == content(*cut));
  CHECK(whole->facts().largest_key == cut->facts().largest_key);
}

TEST_CASE("the same rows in either index base are the same data") {
  const temporary_folder folder;
  write_file(folder / "one", "1 1:1 7:2\n");
  write_file(folder / "zero", "1 0:1 6:2\n");
  auto options = small_blocks();
  const auto one = opened(folder, {folder / "one"}, options);
  options.reading.index_base = 0;
  const auto zero = opened(folder, {folder / "zero"}, options);
  CHECK(content(*one) == content(*zero));
}

TEST_CASE("faults name file, line and column") {
  const temporary_folder folder;
  CHECK(failure_of(folder, "1 3:1\n\n1 0:1\n") ==
        "a:3:3: index 0 in data whose indices start at 1 (see index_base)");
  CHECK(failure_of(folder,
                   "\xEF\xBB\xBF"
                   "1 x:1\n") == "a:1:3: index 'x' is not an integer from 1 to 2^64-1");
  data_options options;
  options.max_line_bytes = 10;
  options.max_bad_rows = 100;  // of no help: such a line is not skipped
  CHECK(failure_of(folder, "1 3:1\n1 3:1 4:1 5:1\n", options) ==
        "a:2:1: the line is longer than the 10 bytes allowed");
  CHECK(failure_of(folder, gzipped("1 3:1\n").substr(0, 20)) ==
        "a: at byte 20 of the gzip file: the file ends in the middle of its compressed data");
  // Nothing half-made is left behind.
  const auto left = *posix_file_system()->list(folder / "cache");
  for (const auto& name : left) CHECK(name.find(".lock") != std::string::npos);
}

TEST_CASE("faulty rows are passed over within the budget, counted, and the first reported") {
  const temporary_folder folder;
  std::string text;
  for (int i = 0; i < 8; ++i) text += "1 3:1\nbad\n";
  write_file(folder / "a", text);
  auto options = small_blocks();
  options.max_bad_rows = 8;
  for (int again = 0; again < 2; ++again) {  // the second time from the cache
    const auto set = opened(folder, {folder / "a"}, options);
    CHECK(set->rows() == 8);
    CHECK(set->skipped().count == 8);
    REQUIRE(set->skipped().first.size() == skipped_rows::most_reported);
    CHECK(set->skipped().first[1] == folder / "a" + ":4:1: label 'bad' is not a number");
  }
  options.max_bad_rows = 7;
  CHECK(failure_of(folder, text, options) ==
        "a:16:1: label 'bad' is not a number (and 7 faulty rows were passed over before, the most "
        "allowed)");
  CHECK(failure_of(folder, text) == "a:2:1: label 'bad' is not a number");
}

TEST_CASE("a source that is not there is an error, cache or not") {
  const temporary_folder folder;
  write_file(folder / "a", "1 3:1\n");
  opened(folder, {folder / "a"});
  REQUIRE(posix_file_system()->remove(folder / "a"));
  auto set = open_data(folder, {folder / "a"}, small_blocks());
  REQUIRE_FALSE(set);
  CHECK(set.failure().code == errc::io);
  CHECK_FALSE(open_data(folder, {}));
}

TEST_CASE("unusable options are refused before any file is read") {
  const temporary_folder folder;
  write_file(folder / "a", "1 3:1\n");
  data_options options;
  options.format = "libsvn";
  CHECK(open_data(folder, {folder / "a"}, options).failure().code == errc::bad_config);
  options = {};
  options.blocks.rows = 0;
  CHECK(open_data(folder, {folder / "a"}, options).failure().code == errc::bad_config);
  options = {};
  options.reading.index_base = 2;
  CHECK(open_data(folder, {folder / "a"}, options).failure().code == errc::bad_config);
  options = {};
  options.max_line_bytes = std::uint64_t{1} << 40;
  CHECK(open_data(folder, {folder / "a"}, options).failure().code == errc::bad_config);
}

TEST_CASE("a real data set is read as others read it") {
  const auto a9a = real_data("a9a");
  if (!a9a) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
    return;
  }
  const temporary_folder folder;
  const auto set = opened(folder, {*a9a + "/train.svm.xz"}, {});
  CHECK(set->rows() == 32'561);
  CHECK(set->facts().entries == 451'592);
  CHECK(set->facts().largest_key == 122);
  CHECK(set->facts().all_values_one);
  CHECK(set->facts().labels == std::map<double, std::uint64_t>{{-1, 24'720}, {1, 7'841}});
}
