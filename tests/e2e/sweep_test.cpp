// troupe sweep, as its user meets it.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

const char* const two_rates = R"(
job = "job.toml"
seeds = [1, 2]
[axes]
"training.updater.rate" = [0.3, 1e-6]
)";

}  // namespace

TEST_CASE(
    "a sweep of local jobs ranks by the validation metric, and a second one runs nothing again") {
  const workplace here;
  here.write("sweep.toml", two_rates);
  const auto first = here.troupe({"sweep", "sweep.toml", "--json", "table.json", "--csv", "t.csv"});
  INFO(first.out, first.err);
  CHECK(first.exit_code == 0);
  CHECK(first.out.find("[4/4] ") != std::string::npos);
  CHECK(first.out.find("sweep, by test_auc, the largest first") != std::string::npos);
  const auto best = first.out.find("*  training.updater.rate=0.3");
  CHECK(best != std::string::npos);
  CHECK(best < first.out.rfind("training.updater.rate=1e-06"));
  const auto again = here.troupe({"sweep", "sweep.toml"});
  CHECK(again.exit_code == 0);
  CHECK(count(again.out, "done before") == 4);
  CHECK(again.out.substr(again.out.find("sweep, by")) ==
        first.out.substr(first.out.find("sweep, by")));
  CHECK(count(here.troupe({"sweep", "sweep.toml", "--dry-run"}).out, "done  ") == 4);
  CHECK(count(here.troupe({"sweep", "sweep.toml", "--fresh"}).out, "done before") == 0);
}

TEST_CASE("a run that fails is a row that says why, and is tried again") {
  const workplace here;
  here.write(
      "sweep.toml",
      "job = \"job.toml\"\nclock = \"virtual\"\n[axes]\n\"simulate.time_limit\" = [\"1 ms\", \"1 "
      "h\"]\n");
  for (int i = 0; i < 2; ++i) {
    const auto end = here.troupe({"sweep", "sweep.toml"});
    INFO(end.out, end.err);
    CHECK(end.exit_code == 1);
    CHECK(end.out.find("1 failed: troupe: after 0.00") != std::string::npos);
    CHECK(count(end.out, "done before") == static_cast<std::size_t>(i));
  }
}

TEST_CASE("what is wrong with a sweep is said before the first run") {
  const workplace here;
  const struct {
    const char* text;
    const char* why;
  } table[] = {
      {"", "sweep.toml: job: is missing"},
      {"job = \"job.toml\"\nseed = 3\n", "sweep.toml:2:1: seed: is no key; did you mean 'seeds'?"},
      {"job = \"job.toml\"\nclock = \"moon\"\n", "clock: is real or virtual"},
      {"job = \"job.toml\"\n[axes]\n\"training.epochs\" = []\n", "training.epochs: has no values"},
      {"job = \"job.toml\"\n[axes]\n\"training.epoch\" = [1]\n", "did you mean training.epochs?"},
      {"job = \"job.toml\"\n[[points]]\nset = []\n", "a point needs a name"},
      {"job = \"none.toml\"\n", "none.toml"},
      {"job = 3\n", "job: is text, not"},
  };
  for (const auto& row : table) {
    here.write("sweep.toml", row.text);
    const auto end = here.troupe({"sweep", "sweep.toml"});
    INFO(row.text, end.err);
    CHECK(end.exit_code == 2);
    CHECK(end.err.find(row.why) != std::string::npos);
    CHECK(end.out.empty());
  }
}
