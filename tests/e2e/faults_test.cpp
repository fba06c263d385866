// Workers that die, and pushes that must not count.
#include <cmath>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

TEST_CASE("a worker that throws within its budget is restarted, and no update is lost") {
  const workplace here;
  const auto calm = here.train();
  here.amend("[[debug.throws]]\nslot = 2\nclock = 4\ntimes = 3\n");
  const auto survived = here.train();
  CHECK(survived.digest() == calm.digest());
  CHECK(survived.number("restarts") == 3);
  CHECK(survived.number("examples") == 4000);
}

TEST_CASE("asynchronous jobs survive a worker's death too") {
  const workplace here;
  here.amend("[[debug.throws]]\nslot = 2\nclock = 4\nwhere = \"between_sends\"\n");
  for (const std::string staleness : {"4", "unbounded"}) {
    const auto survived = here.train(set("training.staleness=" + staleness));
    CHECK(survived.number("restarts") == 1);
    CHECK(survived.number("examples") == 4000);
    CHECK(survived.number("test_auc") > 0.7);
  }
}

TEST_CASE("a worker that throws more often than its budget ends the job by name") {
  const workplace here;
  here.amend("[[debug.throws]]\nslot = 1\nclock = 5\ntimes = 3\n");
  const auto end = here.sim(set("supervision.restarts=2") + words{"--json", "result.json"});
  INFO(end.out, end.err);
  CHECK(end.exit_code == 1);
  // With two workers, worker 1 holds the slots 1 and 3.
  CHECK(contains(end.err, "\ntroupe: worker 1"));
  CHECK(contains(end.err, "slot 1"));
  CHECK(contains(end.err, "clock 5"));
  CHECK_FALSE(contains(end.err, "terminate"));

  const result_page page(read_file(here / "result.json"));
  CHECK(page.word("outcome") == "failed");
  CHECK(page.number("exit_code") == 1);
  CHECK(contains(page.word("error"), "worker 1"));
  // No model is left that somebody might take for a whole one.
  CHECK(here.troupe({"evaluate", "--model", "model"}).exit_code != 0);
}

TEST_CASE("a budget of no restarts ends the job at the first death") {
  const workplace here;
  here.amend("[[debug.throws]]\nslot = 0\nclock = 0\n");
  const auto end = here.sim(set("supervision.restarts=0"));
  CHECK(end.exit_code == 1);
  CHECK(contains(end.err, "worker 0"));
}

TEST_CASE("a push that is no number is refused and counted, and the job goes on") {
  const workplace here;
  here.amend("[[debug.nan_push]]\nslot = 1\nclock = 3\n");
  for (const std::string combine : {"each", "sum"}) {
    INFO(combine);
    const auto done = here.train(set("training.combine=" + combine));
    CHECK(done.number("rejected_updates") == 1);
    CHECK(done.number("examples") == 4000);
    CHECK(std::isfinite(done.number("objective")));
    CHECK(done.number("test_auc") > 0.65);
    const auto text = here.troupe({"export", "--model", "model"});
    CHECK(text.exit_code == 0);
    CHECK_FALSE(contains(text.out.substr(text.out.find("# table")), "nan"));
    CHECK_FALSE(contains(text.out, "inf"));
  }
}

TEST_CASE("a refused push leaves the same model in any cluster") {
  const workplace here;
  here.amend("[[debug.nan_push]]\nslot = 1\nclock = 3\n[[debug.throws]]\nslot = 1\nclock = 3\n");
  const auto all =
      here.train_all({{"--workers", "1", "--servers", "1"}, {"--workers", "4", "--servers", "3"}});
  CHECK(all[0].digest() == all[1].digest());
}
