// Ctrl-C: the job ends early, and what was learned is kept.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// Long enough that nobody waits for its end: 20 clocks of 30 s in slot 0.
const char* const long_job = "[[debug.slow]]\nslot = 0\ndelay = \"30 s\"\n";
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

TEST_CASE("a second Ctrl-C ends at once and leaves the older model as it was") {
  const workplace here;
  const auto digest = here.train().digest();
  const auto text = here.troupe({"export", "--model", "model"}).out;
  here.amend(long_job);
  running_program job(sim(set("output.progress_every=50 ms")), place_of(here));
  REQUIRE(job.wait_for_output("epoch 1/2"));
  job.send_signal(SIGINT);
  REQUIRE(job.wait_for_output("stopping"));
  job.send_signal(SIGINT);
  const auto& end = job.wait();
  CHECK_FALSE(end.timed_out);
  CHECK(end.exit_code == 130);
  CHECK(contains(text, digest));
  CHECK(here.troupe({"export", "--model", "model"}).out == text);
}
