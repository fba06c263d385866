// Feature ids over the whole range of 64 bits, in sparse and in dense tables.
#include <algorithm>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// Ids that a double, or a signed number, would bend.
const words wide_ids = {"0",
                        "1",
                        "9007199254740993",
                        "9223372036854775807",
                        "9223372036854775808",
                        "9223372036854775809",
                        "18446744073709551614",
                        "18446744073709551615"};

// A row for each id.
std::string rows_of(const words& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i)
    text += std::string(i % 2 == 0 ? "1 " : "-1 ") + ids[i] + ":1\n";
  return text;
}

// The keys of the exported table of weights.
words exported_keys(const workplace& here) {
  const auto end = here.troupe({"export", "--model", "model", "--output", "model.txt"});
  INFO(end.err);
  REQUIRE(end.exit_code == 0);
  CHECK(end.out.empty());
  std::istringstream lines(read_file(here / "model.txt"));
  words keys;
  bool weights = false;
  for (std::string line; std::getline(lines, line);)
    if (line[0] == '#')
      weights = contains(line, "table weights") || (weights && !contains(line, "table "));
    else if (weights)
      keys.push_back(line.substr(0, line.find('\t')));
  return keys;
}

words data(const std::string& train) {
  return set("data.train=" + train) + set("data.test=[]") + set("data.index_base=0") +
         set("data.cache=cache");
}

}  // namespace

TEST_CASE("ids above 2^63 are trained and exported exactly") {
  const workplace here;
  here.write("wide.svm", rows_of(wide_ids));
  const auto one = here.train(data("wide.svm") + words{"--servers", "1"});
  CHECK(exported_keys(here) == wide_ids);
  const auto three = here.train(data("wide.svm") + words{"--servers", "3"});
  CHECK(exported_keys(here) == wide_ids);
  CHECK(three.digest() == one.digest());
}

TEST_CASE("with base 1 the largest id is the key below it") {
  const workplace here;
  here.write("wide.svm", "1 18446744073709551615:1\n-1 1:1\n");
  here.train(data("wide.svm") + set("data.index_base=1"));
  CHECK(exported_keys(here) == words{"0", "18446744073709551614"});
}

TEST_CASE("a table by range holds the whole range too") {
  const workplace here;
  here.write("wide.svm", rows_of(wide_ids));
  const auto by_range = set("tables.weights.partition=range") + set("tables.weights.first=0") +
                        set("tables.weights.last=18446744073709551615");
  here.train(data("wide.svm") + by_range + words{"--servers", "3"});
  CHECK(exported_keys(here) == wide_ids);
}

TEST_CASE("a dense table refuses an id beyond its last, by name") {
  const workplace here;
  here.write("rows.svm", "1 0:1 7:1\n-1 3:1 12:1\n");
  const auto dense = set("tables.weights.kind=dense") + set("tables.weights.first=0");
  check_refused(here.sim(data("rows.svm") + dense + set("tables.weights.last=11")),
                {"tables.weights", "12"});
  check_refused(here.sim(data("rows.svm") + set("tables.weights.kind=dense") +
                         set("tables.weights.first=1") + set("tables.weights.last=20")),
                {"tables.weights", "key 0"});
  const auto done = here.train(data("rows.svm") + dense + set("tables.weights.last=12"));
  CHECK(done.number("examples") == 4);
  // The bounds of the data do where none are given.
  CHECK(here.train(data("rows.svm") + set("tables.weights.kind=dense")).number("examples") == 4);
}

TEST_CASE("dense, by range or hashed, a table learns the same") {
  const workplace here;
  const auto job = set("training.updater.name=adagrad");
  const auto hashed = here.train(job);
  for (const std::string change : {"kind=dense", "partition=range"}) {
    const auto bounds = set("tables.weights.first=0") + set("tables.weights.last=299");
    const auto changed = here.train(job + set("tables.weights." + change) + bounds);
    CHECK(changed.number("test_logloss") == hashed.number("test_logloss"));
    CHECK(changed.number("objective") == hashed.number("objective"));
  }
}

TEST_CASE("a key that no training row has is unknown to the model and scores as nothing") {
  const workplace here;
  here.write("train.svm", "1 0:1\n-1 1:1\n");
  here.write("test.svm", "1 5:1\n-1 18446744073709551615:1\n");
  const auto done = here.train(data("train.svm") + set("data.test=test.svm"));
  CHECK(exported_keys(here) == words{"0", "1"});
  CHECK(done.number("test_auc") == 0.5);
}
