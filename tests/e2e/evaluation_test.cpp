// Evaluations during training: the history, the best model, and when to stop.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

std::vector<result_page> history(const std::string& path) {
  std::vector<result_page> pages;
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);) pages.emplace_back(line);
  return pages;
}

bool truth(const result_page& page, const std::string& name) {
  return page.value(name).bool_value();
}

}  // namespace

TEST_CASE("every evaluation is a line of the history, and none changes the model") {
  const workplace here;
  const auto plain = here.train(set("training.epochs=3"));
  const auto lines_before = history(here / "model/history.jsonl");
  REQUIRE(lines_before.size() == 1);
  CHECK(truth(lines_before[0], "final"));
  for (const auto& cluster :
       {words{}, words{"--workers", "1", "--servers", "3"}, words{"--clock", "virtual"}}) {
    const auto done = here.train(set("training.epochs=3") + set("evaluation.every=0.5") + cluster);
    CHECK(done.digest() == plain.digest());
    const auto lines = history(here / "model/history.jsonl");
    REQUIRE(lines.size() == 7);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CHECK(lines[i].number("evaluation") == static_cast<double>(i + 1));
      CHECK(truth(lines[i], "final") == (i == 6));
      CHECK(lines[i].number("test_logloss") > 0);
    }
    CHECK(lines[5].number("test_logloss") == plain.number("test_logloss"));
    CHECK(lines[6].number("objective") == plain.number("objective"));
    CHECK(lines[1].number("epoch") == 1);
    // The model of one epoch is what the second evaluation saw.
    CHECK(lines[1].number("test_logloss") ==
          here.train(set("training.epochs=1") + set("model.output=one")).number("test_logloss"));
  }
}

TEST_CASE("training stops without a better model, and the best one is what is saved") {
  const workplace here;
  // So fast that the model soon gets worse.
  const auto job = set("training.epochs=40") + set("training.updater.rate=1") +
                   set("data.validation_fraction=0.3") + set("evaluation.every=0.5") +
                   set("evaluation.patience=3");
  const auto done = here.train(job + set("evaluation.keep_best=true"));
  CHECK(truth(done, "stopped_early"));
  CHECK(done.number("train_rows") + done.number("validation_rows") == 2000);
  const auto lines = history(here / "model/history.jsonl");
  const auto best = static_cast<std::size_t>(done.number("best_evaluation"));
  REQUIRE(best >= 1);
  CHECK(lines.size() == best + 3 + 1);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    CHECK(lines[i].number("validation_logloss") >= lines[best - 1].number("validation_logloss"));
  CHECK(done.number("validation_logloss") == lines[best - 1].number("validation_logloss"));
  CHECK_FALSE(std::filesystem::exists(here / "model.best"));
  // A saved model is that one.
  const auto again = here.troupe({"evaluate", "--model", "model"});
  std::istringstream figures(again.out);
  bool found = false;
  for (std::string name, digits; figures >> name >> digits;)
    if (name == "test_logloss") {
      found = true;
      CHECK(std::stod(digits) == done.number(name));
    }
  CHECK(found);
  // The same in virtual time, in another cluster, and by another metric's direction.
  CHECK(here.train(job + set("evaluation.keep_best=true") + words{"--clock", "virtual"}).digest() ==
        done.digest());
  CHECK(
      here.train(job + set("evaluation.keep_best=true") + words{"--servers", "1", "--workers", "4"})
          .digest() == done.digest());
  CHECK(here.train(job).digest() != done.digest());  // the last one
  const auto by_auc =
      here.train(job + set("evaluation.keep_best=true") + set("evaluation.metric=auc"));
  const auto by = static_cast<std::size_t>(by_auc.number("best_evaluation"));
  const auto auc_lines = history(here / "model/history.jsonl");
  for (std::size_t i = 0; i + 1 < auc_lines.size(); ++i)
    CHECK(auc_lines[i].number("validation_auc") <= auc_lines[by - 1].number("validation_auc"));
}

TEST_CASE("a worker that dies between evaluations changes neither them nor the model") {
  const workplace here;
  const auto job = set("evaluation.every=0.5") + set("data.validation_fraction=0.2") +
                   set("evaluation.keep_best=true");
  const auto calm = here.train(job);
  const auto calm_lines = history(here / "model/history.jsonl");
  here.amend(
      "[[debug.throws]]\nslot = 0\nclock = 4\n[[debug.throws]]\nslot = 1\nclock = 5\n"
      "where = \"between_sends\"\n");
  const auto shaken = here.train(job);
  CHECK(shaken.number("restarts") >= 1);
  CHECK(shaken.digest() == calm.digest());
  const auto lines = history(here / "model/history.jsonl");
  REQUIRE(lines.size() == calm_lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK(lines[i].number("validation_logloss") == calm_lines[i].number("validation_logloss"));
}

TEST_CASE("evaluations work with stale and unbounded slots too") {
  const workplace here;
  for (const std::string staleness : {"3", "unbounded"}) {
    const auto done =
        here.train(set("training.staleness=" + staleness) + set("evaluation.every=0.25"));
    CHECK(done.number("evaluations") >= 8);
    CHECK(done.number("examples") == 4000);
  }
}

TEST_CASE("settings of evaluations that make no sense are refused by name") {
  const workplace here;
  check_refused(here.sim(set("evaluation.patience=2")),
                {"evaluation.patience", "evaluation.every", "data.validation"});
  check_refused(here.sim(set("evaluation.every=1") + set("evaluation.metric=akk")),
                {"evaluation.metric", "'akk' is not known"});
  check_refused(here.sim(set("evaluation.metric=calibration")), {"near 1"});
  for (const auto& [loss, metric, why] :
       {std::tuple("squared_hinge", "logloss", "logistic loss alone"),
        {"logistic", "group_auc", "rows that have groups"}})
    check_refused(
        here.sim(set(std::string("model.loss=") + loss) +
                 set(std::string("evaluation.metric=") + metric) + set("evaluation.every=1")),
        {"evaluation.metric", why});
  // One that is not reported otherwise is, where it decides.
  CHECK(here.train(set("evaluation.metric=mae") + set("evaluation.every=1") + words{})
            .number("test_mae") > 0);
  check_refused(here.sim(set("evaluation.metrics=auc2")),
                {"evaluation.metrics", "did you mean 'auc'"});
  check_refused(here.sim(set("data.validation_fraction=0.1") + set("data.validation=x.svm")),
                {"not from both"});
  const auto few = here.train(set("evaluation.metrics=auc"));
  CHECK(few.has("test_auc"));
  CHECK_FALSE(few.has("test_pr_auc"));
}
