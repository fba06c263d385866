#include "apps/make_data.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/support/text_data.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

apps::synthetic_options small(const std::string& folder) {
  apps::synthetic_options options;
  options.rows = 4000;
  options.test_rows = 1000;
  options.features = 500;
  options.per_row = 10;
  options.folder = folder;
  return options;
}

}  // namespace

TEST_CASE("synthetic data is LIBSVM text of the shape asked for") {
  const temporary_folder folder;
  REQUIRE(apps::make_synthetic_data(*posix_file_system(), small(folder / "a/b")));
  const auto train = open_data(folder, {folder / "a/b/train.svm"});
  REQUIRE(train);
  const auto& facts = (*train)->facts();
  CHECK(facts.rows == 4000);
  CHECK(facts.entries > 4000 * 9);
  CHECK(facts.entries < 4000 * 11);
  CHECK(facts.longest_row <= 19);
  CHECK(facts.smallest_key == 0);
  CHECK(facts.largest_key <= 499);
  CHECK(facts.largest_key > 450);
  CHECK(facts.all_values_one);
  CHECK(facts.labels.size() == 2);
  CHECK(facts.labels.at(1) > 800);
  CHECK(facts.labels.at(-1) > 800);
  CHECK((*open_data(folder, {folder / "a/b/test.svm"}))->rows() == 1000);
}

TEST_CASE("the truth explains synthetic data well, and its bias alone does not") {
  const temporary_folder folder;
  REQUIRE(apps::make_synthetic_data(*posix_file_system(), small(folder / "a")));
  std::istringstream truth(read_file(folder / "a/truth.txt"));
  std::string hash, test, what, bias;
  double logloss = 0, accuracy = 0, value = 0;
  truth >> hash >> test >> what >> logloss >> hash >> test >> what >> accuracy >> bias >> value;
  CHECK(what == "accuracy");
  CHECK(bias == "bias");
  CHECK(value == -0.5);
  CHECK(logloss > 0.2);
  CHECK(logloss < 0.5);  // a constant gets 0.69 at best where both labels are as frequent
  CHECK(accuracy > 0.75);
  std::size_t weights = 0;
  std::uint64_t key = 0, last = 0;
  while (truth >> key >> value) {
    if (weights > 0) CHECK(key > last);
    CHECK(value != 0);
    last = key;
    ++weights;
  }
  CHECK(weights > 110);
  CHECK(weights < 190);
}

TEST_CASE("synthetic data is a function of its options, and its train rows are not its test rows") {
  const temporary_folder folder;
  auto options = small(folder / "a");
  REQUIRE(apps::make_synthetic_data(*posix_file_system(), options));
  options.folder = folder / "b";
  REQUIRE(apps::make_synthetic_data(*posix_file_system(), options));
  options.folder = folder / "c";
  options.seed = 2;
  REQUIRE(apps::make_synthetic_data(*posix_file_system(), options));
  for (const char* name : {"/train.svm", "/test.svm", "/truth.txt"}) {
    CHECK(read_file(folder / "a" + name) == read_file(folder / "b" + name));
    CHECK(read_file(folder / "a" + name) != read_file(folder / "c" + name));
  }
  const auto train = read_file(folder / "a/train.svm"), test = read_file(folder / "a/test.svm");
  CHECK(train.substr(0, 1000) != test.substr(0, 1000));
  // A known beginning, so that a change of the generator does not go unnoticed.
  CHECK(train.substr(0, train.find('\n')) ==
        "+1 1:1 4:1 5:1 6:1 7:1 10:1 15:1 32:1 34:1 91:1 177:1 179:1 193:1 217:1 344:1 398:1");
}

TEST_CASE("synthetic data of any size can be made, and of none is refused") {
  const temporary_folder folder;
  auto options = small(folder / "a");
  options.rows = 3;
  options.test_rows = 0;
  options.features = 2;
  options.per_row = 50;
  CHECK(apps::make_synthetic_data(*posix_file_system(), options));
  options.features = 0;
  const auto made = apps::make_synthetic_data(*posix_file_system(), options);
  REQUIRE_FALSE(made);
  CHECK(made.failure().code == errc::bad_usage);
}
