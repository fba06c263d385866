// The main job: it learns what there is to be learned, and says so.
#include <cmath>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// What the model that made the data scores on the test rows: "# test logloss 0.34".
double truth(const std::string& path, const std::string& name) {
  std::istringstream lines(read_file(path));
  const auto start = "# test " + name + " ";
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(start, 0) == 0) return std::stod(line.substr(start.size()));
  FAIL(path, " does not tell ", name);
  return 0;
}

}  // namespace

TEST_CASE("a job says all of its results in JSON") {
  const workplace here;
  const auto done = here.train();
  for (const char* name :
       {"objective", "train_logloss", "test_logloss", "test_auc", "test_accuracy", "nonzeros",
        "examples", "seconds", "examples_per_second", "bytes_pushed", "bytes_pulled", "restarts",
        "rejected_updates", "max_staleness"})
    CHECK(std::isfinite(done.number(name)));
  CHECK(done.digest().size() == 32);
  CHECK(done.word("outcome") == "finished");
  CHECK(done.number("exit_code") == 0);
  CHECK(done.number("examples") == 2000 * 2);
  CHECK(done.number("examples_per_second") * done.number("seconds") == doctest::Approx(4000));
  CHECK(done.number("restarts") == 0);
  CHECK(done.number("rejected_updates") == 0);
  CHECK(done.number("max_staleness") == 0);
  CHECK(done.number("nonzeros") > 200);
  CHECK(done.number("nonzeros") <= 301);  // 300 features and a bias
  // Every one of the 80 clocks pulls and pushes at least one float.
  CHECK(done.number("bytes_pushed") > 80 * 4);
  CHECK(done.number("bytes_pulled") > 80 * 4);
  // Without a penalty the objective is the summed loss of the training rows.
  CHECK(done.number("objective") == doctest::Approx(2000 * done.number("train_logloss")));
}

TEST_CASE("from enough rows a job learns nearly what the truth behind them scores") {
  const workplace here;
  REQUIRE(here.troupe({"make-data", "--synthetic", "many", "--features", "300", "--per-row", "10"})
              .exit_code == 0);
  const auto done = here.train(set("data.train=many/train.svm") + set("data.test=many/test.svm") +
                               set("training.epochs=10"));
  const auto logloss = truth(here / "many/truth.txt", "logloss");
  const auto accuracy = truth(here / "many/truth.txt", "accuracy");
  CHECK(done.number("test_logloss") < logloss + 0.02);
  CHECK(done.number("test_logloss") > logloss - 0.005);  // or it knows the test rows
  CHECK(done.number("test_accuracy") > accuracy - 0.02);
  CHECK(done.number("test_auc") > 0.8);
}

TEST_CASE("the penalties are part of the objective, and l1 leaves weights at zero") {
  const workplace here;
  const auto job = set("training.updater.name=ftrl");
  const auto free = here.train(job);
  const auto penalised =
      here.train(job + set("training.updater.l1=4") + set("training.updater.l2=1"));
  CHECK(penalised.number("nonzeros") < free.number("nonzeros") * 0.7);
  CHECK(penalised.number("objective") > 2000 * penalised.number("train_logloss") + 10);
}

TEST_CASE("every loss and every updater learns") {
  const workplace here;
  for (const std::string loss : {"squared", "squared_hinge"}) {
    INFO(loss);
    CHECK(here.train(set("model.loss=" + loss)).number("test_auc") > 0.7);
  }
  for (const std::string updater :
       {"sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "ftrl"}) {
    INFO(updater);
    const bool adaptive = updater == "rmsprop" || updater == "adam";
    const auto done = here.train(set("training.updater.name=" + updater) +
                                 set(adaptive ? "training.updater.rate=0.02" : "job.name=x") +
                                 set("training.epochs=4"));
    CHECK(done.number("test_auc") > 0.65);
  }
}

TEST_CASE("a job without test data, without a bias or in doubles does what it can") {
  const workplace here;
  using google::protobuf::Value;
  const auto untested = here.train(set("data.test=[]"));
  CHECK(untested.value("test_auc").kind_case() == Value::kNullValue);
  CHECK(untested.number("objective") > 0);
  CHECK(here.train(set("model.bias=false")).number("nonzeros") <= 300);
  CHECK(here.train(set("model.value_type=f64")).number("test_auc") > 0.7);
  CHECK(here.train(set("evaluation.train=false")).value("objective").kind_case() ==
        Value::kNullValue);
  CHECK(here.train(set("evaluation.train=true")).number("test_auc") > 0.7);
}

TEST_CASE("progress comes as plain lines where there is no terminal, and ends in a table") {
  const workplace here;
  const auto shown = here.train();
  CHECK_FALSE(contains(shown.end.out, "\x1b"));
  CHECK(contains(shown.end.out, "AUC  "));
  CHECK(contains(shown.end.out, shown.digest()));
  CHECK(shown.end.err.empty());
  const auto live = here.train(set("output.progress=live"));
  CHECK(contains(live.end.out, "\r\x1b[K"));
}
