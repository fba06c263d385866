// Ctrl-C: the job ends early, and what was learned is kept.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// Slot 0 needs half an hour for a clock, longer than any patience here.
const char* const stuck_job = "[[debug.slow]]\nslot = 0\ndelay = \"30 min\"\n";
// Hundreds of short clocks a slot.
const char* const steady_job = "[[debug.slow]]\nslot = 0\ndelay = \"20 ms\"\n";

program_place place_of(const workplace& here) {
  program_place place;
  place.folder = here.path();
  return place;
}

words sim(const words& more = {}) {
  return words{TROUPE_BINARY, "sim", "job.toml", "--json", "result.json"} + more;
}

}  // namespace

TEST_CASE("Ctrl-C in mid-training saves a whole model and ends with 130") {
  const workplace here;
  here.amend(steady_job);
  for (const int signal : {SIGINT, SIGTERM}) {
    running_program job(sim(set("training.epochs=1000") + set("output.progress_every=50 ms")),
                        place_of(here));
    // From here on training has begun.
    REQUIRE(job.wait_for_output("epoch 2/1000"));
    job.send_signal(signal);
    const auto& end = job.wait();
    INFO(end.out, end.err);
    CHECK(end.exit_code == 130);
    CHECK(end.signal == 0);

    const result_page page(read_file(here / "result.json"));
    CHECK(page.word("outcome") == "interrupted");
    CHECK(page.number("exit_code") == 130);
    CHECK(page.number("examples") >= 2000);
    CHECK(page.number("examples") < 2'000'000);
    const auto loaded = here.troupe({"evaluate", "--model", "model"});
    INFO(loaded.err);
    CHECK(loaded.exit_code == 0);
    CHECK(contains(loaded.out, "test_auc"));
    CHECK(here.troupe({"export", "--model", "model"}).exit_code == 0);
  }
}

TEST_CASE("Ctrl-C does not wait for a slot that dawdles") {
  const workplace here;
  here.amend(stuck_job);
  running_program job(sim(set("output.progress_every=50 ms")), place_of(here));
  REQUIRE(job.wait_for_output("epoch 1/2"));
  job.send_signal(SIGINT);
  CHECK_FALSE(job.wait().timed_out);
  CHECK(job.wait().exit_code == 130);
  CHECK(here.troupe({"evaluate", "--model", "model"}).exit_code == 0);
}

TEST_CASE("however often Ctrl-C is pressed, a whole model is there") {
  const workplace here;
  REQUIRE(here.train().end.exit_code == 0);
  here.amend(steady_job);
  running_program job(sim(set("training.epochs=1000") + set("output.progress_every=50 ms")),
                      place_of(here));
  REQUIRE(job.wait_for_output("epoch 1/1000"));
  for (int i = 0; i < 5; ++i) job.send_signal(SIGINT);
  CHECK_FALSE(job.wait().timed_out);
  CHECK(job.wait().exit_code == 130);
  CHECK(here.troupe({"evaluate", "--model", "model"}).exit_code == 0);
}
