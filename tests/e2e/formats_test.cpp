// The same rows in other formats give the same model; weights, sampling and shaping do what they
// say.
#include <cmath>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

struct text_row {
  std::string label;
  std::vector<std::pair<int, std::string>> features;
};

std::vector<text_row> rows_of(const std::string& svm) {
  std::vector<text_row> rows;
  std::istringstream lines(svm);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    text_row row;
    words >> row.label;
    for (std::string word; words >> word;) {
      const auto colon = word.find(':');
      row.features.emplace_back(std::stoi(word.substr(0, colon)), word.substr(colon + 1));
    }
    rows.push_back(row);
  }
  return rows;
}

constexpr int features = 300;

std::string as_csv(const std::vector<text_row>& rows) {
  std::string text = "label";
  for (int i = 1; i <= features; ++i) text += "," + std::to_string(i);
  text += "\n";
  for (const auto& row : rows) {
    std::vector<std::string> values(features + 1);
    for (const auto& [index, value] : row.features) values[static_cast<std::size_t>(index)] = value;
    text += row.label;
    for (int i = 1; i <= features; ++i) text += "," + values[static_cast<std::size_t>(i)];
    text += "\n";
  }
  return text;
}

std::string as_ffm(const std::vector<text_row>& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += row.label;
    for (const auto& [index, value] : row.features)
      text += " " + std::to_string(index % 7) + ":" + std::to_string(index) + ":" + value;
    text += "\n";
  }
  return text;
}

// Twice the rows, or each with weight 2.
std::string doubled(const std::vector<text_row>& rows, bool by_weight) {
  std::string text;
  for (const auto& row : rows)
    for (int copy = 0; copy < (by_weight ? 1 : 2); ++copy) {
      text += row.label + (by_weight ? ":2" : "");
      for (const auto& [index, value] : row.features)
        text += " " + std::to_string(index) + ":" + value;
      text += "\n";
    }
  return text;
}

words data(const std::string& format, const std::string& train, const std::string& test) {
  return set("data.format=" + format) + set("data.train=" + train) + set("data.test=" + test);
}

}  // namespace

TEST_CASE("LIBSVM text, libffm text and CSV of the same rows give the same model and figures") {
  const workplace here;
  const auto svm = here.train();
  for (const auto* name : {"train", "test"}) {
    const auto rows = rows_of(read_file(synthetic_data() / (std::string(name) + ".svm")));
    here.write(std::string(name) + ".csv", as_csv(rows));
    here.write(std::string(name) + ".ffm", as_ffm(rows));
  }
  const auto ffm = here.train(data("libffm", "train.ffm", "test.ffm"));
  const auto csv = here.train(data("csv", "train.csv", "test.csv") +
                              set("data.csv.columns.label=label") + set("data.csv.others=number"));
  for (const auto* other : {&ffm, &csv}) {
    CHECK(other->digest() == svm.digest());
    CHECK(other->number("test_auc") == svm.number("test_auc"));
    CHECK(other->number("objective") == svm.number("objective"));
  }
}

TEST_CASE("a row of weight two is the same as that row twice") {
  const workplace here;
  const auto rows = rows_of(read_file(synthetic_data() / "train.svm"));
  here.write("twice.svm", doubled(rows, false));
  here.write("weighted.svm", doubled(rows, true));
  // All rows in one gradient, so that no other order tells them apart.
  const auto whole = set("training.minibatch=16000000") + set("cluster.slots=1") +
                     set("cluster.workers=1") + set("model.value_type=f64") +
                     set("data.shuffle=false") + set("data.block_rows=100000");
  const auto twice = here.train(whole + set("data.train=twice.svm"));
  const auto weighted =
      here.train(whole + set("data.train=weighted.svm") + set("data.label_weights=true"));
  for (const auto* figure : {"objective", "train_logloss", "train_auc", "train_accuracy",
                             "train_pr_auc", "train_calibration", "train_progressive_loss"}) {
    INFO(figure);
    CHECK(weighted.number(figure) == doctest::Approx(twice.number(figure)).epsilon(1e-9));
  }
  // And so is the class's weight.
  const auto by_class = here.train(whole + set("training.class_weights.positive=2") +
                                   set("training.class_weights.negative=2"));
  CHECK(by_class.number("objective") == doctest::Approx(twice.number("objective")).epsilon(1e-9));
  const auto balanced = here.train(set("training.class_weights=balanced"));
  CHECK(std::abs(balanced.number("train_calibration") - 1) < 0.1);
}

TEST_CASE("dropped negative rows make training shorter, and the odds stay right") {
  const workplace here;
  const auto all = here.train(set("training.epochs=5"));
  const auto some = here.train(set("training.epochs=5") + set("data.negative_keep=0.4") +
                               set("data.positive_label=1"));
  CHECK(some.number("dropped_negatives") > 300);
  CHECK(some.number("train_rows") + some.number("dropped_negatives") == 2000);
  CHECK(some.number("test_calibration") == doctest::Approx(1).epsilon(0.15));
  CHECK(some.number("test_logloss") < all.number("test_logloss") + 0.05);
  // A saved model knows its correction.
  const auto again = here.troupe({"predict", "--model", "model", synthetic_data() / "test.svm",
                                  "--metrics", "--json", "p.json"});
  REQUIRE(again.exit_code == 0);
  CHECK(result_page(read_file(here / "p.json")).number("test_logloss") ==
        some.number("test_logloss"));
  check_refused(here.sim(set("data.negative_keep=0.4")), {"data.negative_keep", "positive_label"});
}

TEST_CASE("interactions learn what the features alone cannot") {
  const workplace here;
  std::string text = "y,a,b\n";
  for (int i = 0; i < 2000; ++i) {
    const int a = i % 2, b = i / 2 % 2;  // exclusive or
    text += std::to_string(a ^ b) + ",a" + std::to_string(a) + ",b" + std::to_string(b) + "\n";
  }
  here.write("xor.csv", text);
  const auto job = data("csv", "xor.csv", "xor.csv") + set("data.csv.columns.y=label") +
                   set("data.csv.others=category");
  CHECK(here.train(job).number("test_auc") < 0.6);
  CHECK(here.train(job + set("data.interactions=a*b")).number("test_accuracy") == 1);
  CHECK(here.train(job + set("data.interactions=a*b") + set("data.hash_bits=12"))
            .number("test_accuracy") == 1);
  here.train(job + set("data.max_names=100"));
  CHECK(contains(here.troupe({"inspect", "model"}).out, "a=a1"));
  here.train(job + set("data.interactions=a*b") + set("data.hash_bits=12"));
  // The model knows how its rows are shaped.
  const auto end = here.troupe({"predict", "--model", "model", "--labels", "xor.csv"});
  CHECK(end.out.substr(0, 8) == "0\n1\n1\n0\n");
  check_refused(here.sim(job + set("data.ignore=c")), {"xor.csv:2:1: data.ignore", "'c'"});
}

TEST_CASE("ranking data have a figure by group") {
  const workplace here;
  std::string text;
  for (int q = 0; q < 200; ++q)
    for (int i = 0; i < 5; ++i)
      text += std::string(i < 2 ? "1" : "0") + " qid:" + std::to_string(q) + " " +
              std::to_string(i + 1) + ":1 " + std::to_string(10 + q) + ":1\n";
  here.write("groups.svm", text);
  const auto done = here.train(set("data.train=groups.svm") + set("data.test=groups.svm") +
                               set("training.epochs=20"));
  CHECK(done.number("test_group_auc") > 0.99);
  CHECK_FALSE(here.train().has("test_group_auc"));
}

TEST_CASE("check-data says what files hold, what they look like, and every fault") {
  const workplace here;
  here.write("a.svm", "1 1:1 3:0.5\n0 2:1\n1 1:1 3:0.5\nx 1:1\n1 3:1 3:2\n");
  const auto end = here.troupe({"check-data", "a.svm"});
  CHECK(end.exit_code == 2);
  for (const auto* part :
       {"a.svm looks like libsvm", "format = \"libsvm\"", "index_base = 1",
        "a.svm:4:1: label 'x' is not a number", "a.svm:5:7: index 3 comes twice in this line",
        "rows        3 with 5 features", "labels      0: 1 (33.33 %), 1: 2 (66.67 %)",
        "3 different, keys 0 to 2 (indices 1 to 3)", "values      0.5 to 1",
        "duplicates  1 rows are like an earlier one", "faults      2"}) {
    INFO(end.out);
    CHECK(contains(end.out, part));
  }
  here.write("b.csv", "id,age,job,outcome\n1,20,clerk,yes\n2,,nurse,no\n3,41,clerk,yes\n");
  const auto csv = here.troupe({"check-data", "b.csv"});
  CHECK(csv.exit_code == 0);
  for (const auto* part :
       {"b.csv looks like csv", "\"outcome\" = \"label\"", "\"job\" = \"category\"",
        "\"age\" = \"number\"", "\"yes\" = 1", "labels      0: 1 (33.33 %), 1: 2 (66.67 %)"}) {
    INFO(csv.out);
    CHECK(contains(csv.out, part));
  }
  here.write("c.txt", "lorem ipsum\ndolor sit amet\n");
  check_refused(here.troupe({"check-data", "c.txt"}), {"c.txt looks like none of"});
}
