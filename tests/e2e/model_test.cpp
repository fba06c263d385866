// Saved models: measured, printed, moved, damaged.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

namespace fs = std::filesystem;

// "name   digits" lines, as `"name": digits` of a result page.
std::vector<std::string> as_members(const std::string& lines) {
  std::vector<std::string> members;
  std::istringstream in(lines);
  for (std::string name, digits; in >> name >> digits;)
    members.push_back("\"" + name + "\": " + (digits == "-" ? "null" : digits));
  return members;
}

words parts_of(const std::string& folder) {
  words names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a saved model measures to the last digit as it did at the end of its training") {
  const workplace here;
  for (const auto& job : {words{}, words{"--servers", "3"}, set("model.value_type=f64"),
                          set("model.bias=false"), set("model.loss=squared_hinge"),
                          set("training.updater.name=ftrl") + set("training.updater.l1=2")}) {
    INFO((job.empty() ? "as it is" : job.back()));
    const auto done = here.train(job);
    const auto on_test =
        here.troupe({"evaluate", "--model", "model", synthetic_data() / "test.svm"});
    INFO(on_test.err);
    REQUIRE(on_test.exit_code == 0);
    CHECK(contains(on_test.out, "test_auc"));
    for (const auto& member : as_members(on_test.out)) {
      INFO(member);
      CHECK(contains(done.text(), member));
    }
    // Without a file: the job's own test data.
    CHECK(here.troupe({"evaluate", "--model", "model"}).out == on_test.out);
    const auto on_train =
        here.troupe({"evaluate", "--model", "model", "--train", synthetic_data() / "train.svm"});
    CHECK(contains(on_train.out, "objective"));
    for (const auto& member : as_members(on_train.out)) {
      INFO(member);
      CHECK(contains(done.text(), member));
    }
  }
}

TEST_CASE("the export lists every row, the same whatever cluster saved it") {
  const workplace here;
  const auto done = here.train({"--servers", "1"});
  const auto one = here.troupe({"export", "--model", "model", "--format", "text"});
  REQUIRE(one.exit_code == 0);
  CHECK(contains(one.out, done.digest()));
  std::istringstream lines(one.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);)
    if (line[0] != '#') {
      ++rows;
      CHECK(std::count(line.begin(), line.end(), '\t') == 2);  // the value, and one of state
    }
  CHECK(rows == done.number("nonzeros"));
  here.train({"--servers", "3"});
  const auto rows_in = [](const std::string& text) { return text.substr(text.find("# table")); };
  CHECK(rows_in(here.troupe({"export", "--model", "model"}).out) == rows_in(one.out));

  const auto telling = here.troupe({"export", "--model", "model", "--telling", "3"});
  CHECK(telling.exit_code == 0);
  CHECK(std::count(telling.out.begin(), telling.out.end(), '\n') >= 3);
}

TEST_CASE("a model can be moved, and is replaced as a whole") {
  const workplace here;
  const auto first = here.train({"--seed", "1"});
  const auto names = parts_of(here / "model");
  fs::rename(here / "model", here / "moved");
  const auto second = here.train({"--seed", "2", "--servers", "1"});
  CHECK(parts_of(here / "model").size() < names.size());
  here.train({"--seed", "1"});
  CHECK(parts_of(here / "model") == names);
  CHECK_FALSE(fs::exists(here / "model.partial"));
  CHECK_FALSE(fs::exists(here / "model.old"));
  CHECK(here.troupe({"export", "--model", "model"}).out ==
        here.troupe({"export", "--model", "moved"}).out);
}

TEST_CASE("a damaged model is refused, and the damaged file named") {
  const workplace here;
  here.train();
  for (const auto& name : parts_of(here / "model")) {
    INFO(name);
    const auto path = here / ("model/" + name);
    const auto whole = read_file(path);
    auto flipped = whole;
    flipped[flipped.size() / 2] ^= 1;
    for (const auto& damaged : {flipped, whole.substr(0, whole.size() - 1), std::string()}) {
      write_file(path, damaged);
      // A wrong checksum file speaks against the file that it is of.
      const auto told = name == "manifest.xxh3" ? std::string("manifest") : name;
      check_refused(here.troupe({"evaluate", "--model", "model"}), {told});
      check_refused(here.troupe({"export", "--model", "model"}), {told});
    }
    fs::remove(path);
    check_refused(here.troupe({"export", "--model", "model"}), {"model"});
    write_file(path, whole);
  }
  CHECK(here.troupe({"evaluate", "--model", "model"}).exit_code == 0);
}

TEST_CASE("what is no model is neither read nor replaced") {
  const workplace here;
  fs::create_directories(here / "precious");
  here.write("precious/letter.txt", "do not touch");
  check_refused(here.sim({"--model", "precious"}), {"precious"});
  CHECK(parts_of(here / "precious") == words{"letter.txt"});
  CHECK(read_file(here / "precious/letter.txt") == "do not touch");
  here.write("file", "do not touch");
  check_refused(here.sim({"--model", "file"}), {"file"});
  CHECK(read_file(here / "file") == "do not touch");
  for (const char* command : {"evaluate", "export"}) {
    check_refused(here.troupe({command, "--model", "precious"}), {"precious"});
    check_refused(here.troupe({command, "--model", "nowhere"}), {"nowhere"});
  }
}

TEST_CASE("results that cannot be written are told") {
  const workplace here;
  here.write("file", "");
  // Below a file nothing can be made, not even by root.
  const auto model = here.sim({"--model", "file/model"});
  CHECK_FALSE(model.timed_out);
  CHECK((model.exit_code == 1 || model.exit_code == 2));
  CHECK(contains(model.err, "file/model"));
  const auto json = here.sim({"--json", "file/result.json"});
  CHECK(json.exit_code == 1);
  CHECK(contains(json.err, "file/result.json"));
  here.train();
  const auto text = here.troupe({"export", "--model", "model", "--output", "file/model.txt"});
  CHECK(text.exit_code == 1);
  CHECK(contains(text.err, "file/model.txt"));
}

TEST_CASE("an odd folder name is a folder name") {
  const workplace here;
  for (const std::string name : {"my \"best\" model", "back\\slash", "$dollar", "sp ace", "ünï"}) {
    INFO(name);
    here.train({"--model", name});
    CHECK(fs::exists(here / (name + "/manifest.json")));
    CHECK(here.troupe({"evaluate", "--model", name}).exit_code == 0);
  }
}

TEST_CASE("without a folder no model is saved") {
  const workplace here;
  const auto done = here.train({"--model", ""});
  CHECK(done.value("model_folder").kind_case() == google::protobuf::Value::kNullValue);
  CHECK_FALSE(fs::exists(here / "model"));
}
