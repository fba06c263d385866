// The ready-made jobs reach what others reach on public data.
#include "tests/support/real_data.hpp"

#include <cmath>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

result_page trained_on(const temporary_folder& folder, const std::string& job,
                       const std::string& staleness) {
  program_place place;
  place.folder = folder.path();
  place.environment["TROUPE_DATA"] = real_data_root();
  const auto end = run_program(
      words{TROUPE_BINARY, "sim", TROUPE_SOURCE_DIR + std::string("/config/") + job + ".toml",
            "--json", "result.json", "--model", folder / "model"} +
          set("data.cache=" + folder / "cache") + set("training.staleness=" + staleness),
      place);
  INFO(end.out, end.err);
  REQUIRE(end.exit_code == 0);
  return result_page(read_file(folder / "result.json"));
}

}  // namespace

TEST_CASE("census income is learned as well as liblinear's optimum has it") {
  if (!real_data("a9a")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
    return;
  }
  const temporary_folder folder;
  for (const std::string staleness : {"0", "4", "unbounded"}) {
    INFO("staleness ", staleness);
    const auto done = trained_on(folder, "a9a", staleness);
    CHECK(done.number("test_auc") >= 0.9012);
    CHECK(done.number("test_logloss") <= 0.3257);
    CHECK(done.number("examples") == 5 * 32'561);
    if (staleness != "unbounded") CHECK(done.number("max_staleness") <= std::stod(staleness));
  }
}

TEST_CASE("ad clicks are learned in one pass as well as by a serial FTRL") {
  if (!real_data("criteo20k")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with criteo20k");
    return;
  }
  const temporary_folder folder;
  for (const std::string staleness : {"0", "4"}) {
    INFO("staleness ", staleness);
    const auto done = trained_on(folder, "criteo20k", staleness);
    CHECK(done.number("test_logloss") <= 0.499);
    CHECK(done.number("test_auc") >= 0.734);
    CHECK(done.number("examples") == 10'000);
  }
}

namespace {

std::string unpacked(const std::string& path) {
  const auto end = run_program({"/usr/bin/xz", "-dc", path}, {});
  REQUIRE(end.exit_code == 0);
  return end.out;
}

// One pass of FTRL over the first ad clicks of a file, measured on the rest of its rows: files of
// one set have their rows in one order.
result_page clicks(const temporary_folder& folder, const std::string& format,
                   const std::string& file) {
  const auto text = unpacked(*real_data("criteo8k") + "/" + file);
  std::size_t cut = 0;
  for (int row = 0; row < 6400; ++row) cut = text.find('\n', cut) + 1;
  write_file(folder / (format + ".train"), text.substr(0, cut));
  write_file(folder / (format + ".test"), text.substr(cut));
  program_place place;
  place.folder = folder.path();
  write_file(folder / "job.toml",
             "[training]\nepochs = 1\nminibatch = 10\nupdater = { name = \"ftrl\", alpha = 0.045, "
             "beta = 0.3 }\n[model]\noutput = \"" +
                 format + "\"\n[data]\nformat = \"" + format + "\"\ntrain = \"" + format +
                 ".train\"\ntest = \"" + format + ".test\"\n");
  const auto end = run_program({TROUPE_BINARY, "sim", "job.toml", "--json", "result.json"}, place);
  INFO(end.out, end.err);
  REQUIRE(end.exit_code == 0);
  return result_page(read_file(folder / "result.json"));
}

}  // namespace

TEST_CASE("ad clicks give one model as .ffm and .svm, and as good a one from their raw rows") {
  if (!real_data("criteo8k")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with criteo8k");
    return;
  }
  const temporary_folder folder;
  const auto svm = clicks(folder, "libsvm", "train.svm.xz");
  const auto ffm = clicks(folder, "libffm", "train.ffm.xz");
  CHECK(svm.number("test_rows") == 800);
  CHECK(ffm.word("model_digest") == svm.word("model_digest"));
  CHECK(ffm.number("test_logloss") == svm.number("test_logloss"));
  const auto raw = clicks(folder, "criteo", "raw.train.tsv.xz");
  CHECK(raw.number("test_logloss") == doctest::Approx(svm.number("test_logloss")).epsilon(0.01));
  CHECK(std::abs(raw.number("test_logloss") - svm.number("test_logloss")) < 0.01);
}

TEST_CASE("a ready-made job stops at its best model of clicks from their raw rows") {
  if (!real_data("criteo8k")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with criteo8k");
    return;
  }
  const temporary_folder folder;
  const auto done = trained_on(folder, "criteo8k", "0");
  CHECK(done.value("stopped_early").bool_value());
  CHECK(done.number("validation_logloss") < 0.47);
  CHECK(done.number("test_auc") > 0.7);
}

TEST_CASE("census income as CSV is the same model, and its predictions have the job's figures") {
  if (!real_data("a9a")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
    return;
  }
  const temporary_folder folder;
  const auto svm = trained_on(folder, "a9a", "0");
  program_place place;
  place.folder = folder.path();
  const auto troupe = [&](const words& arguments) {
    auto end = run_program(words{TROUPE_BINARY} + arguments, place);
    INFO(end.err);
    REQUIRE(end.exit_code == 0);
    return end;
  };
  const auto test = *real_data("a9a") + "/test.svm.xz";
  troupe({"predict", "--model", "model", "--metrics", "--json", "p.json", test});
  const result_page predicted(read_file(folder / "p.json"));
  for (const auto* name : {"test_logloss", "test_auc", "test_accuracy", "test_pr_auc"})
    CHECK(predicted.number(name) == svm.number(name));

  for (const std::string set : {"train", "test"}) {
    std::string text = "label";
    for (int i = 1; i <= 123; ++i) text += "," + std::to_string(i);
    std::istringstream lines(unpacked(*real_data("a9a") + "/" + set + ".svm.xz"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      std::string label, word, cells[124];
      in >> label;
      while (in >> word) cells[std::stoi(word.substr(0, word.find(':')))] = "1";
      text += "\n" + label;
      for (int i = 1; i <= 123; ++i) text += "," + cells[i];
    }
    write_file(folder / (set + ".csv"), text + "\n");
  }
  place.environment["TROUPE_DATA"] = real_data_root();
  troupe(
      words{"sim", TROUPE_SOURCE_DIR "/config/a9a.toml", "--model", "csv", "--json", "csv.json"} +
      set("data.train=train.csv") + set("data.test=test.csv") + set("data.format=csv") +
      set("data.csv.columns.label=label") + set("data.csv.others=number"));
  CHECK(result_page(read_file(folder / "csv.json")).word("model_digest") ==
        svm.word("model_digest"));
}

TEST_CASE("liblinear's own predictor agrees on every label of an exported model") {
  const program_place anywhere;
  const bool installed =
      run_program({"/bin/sh", "-c", "command -v liblinear-predict"}, anywhere).exit_code == 0;
  if (!real_data("a9a") || !installed) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a, or liblinear-tools is not installed");
    return;
  }
  const temporary_folder folder;
  trained_on(folder, "a9a", "0");
  program_place place;
  place.folder = folder.path();
  write_file(folder / "test.svm", unpacked(*real_data("a9a") + "/test.svm.xz"));
  const auto run = [&](const words& command) {
    const auto end = run_program(command, place);
    INFO(end.out, end.err);
    REQUIRE(end.exit_code == 0);
  };
  run({TROUPE_BINARY, "export", "--model", "model", "--format", "liblinear", "--output", "m.ll"});
  run({"/bin/sh", "-c", "liblinear-predict test.svm m.ll theirs"});
  run({TROUPE_BINARY, "predict", "--model", "model", "--labels", "--output", "ours", "test.svm"});
  CHECK(read_file(folder / "ours") == read_file(folder / "theirs"));
}
