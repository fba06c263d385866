// Checkpoints of real jobs: listed, verified, exported, and gone on from after the process was
// killed.
#include <sys/wait.h>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

program_place place_of(const workplace& here) {
  program_place place;
  place.folder = here.path();
  return place;
}

// Slow enough for checkpoints on a slow disk.
const char* const slow_job = "[[debug.slow]]\nslot = 0\ndelay = \"40 ms\"\n";

words sim(const words& more = {}) {
  return words{TROUPE_BINARY, "sim", "job.toml", "--json", "result.json"} + more;
}

}  // namespace

TEST_CASE("checkpoints are listed, verified and made models of, the same for any cluster") {
  std::string text;
  for (const char* servers : {"1", "2", "3"}) {
    const workplace here;
    here.amend(slow_job);
    const auto done =
        here.troupe(words{"sim", "job.toml", "--servers", servers} + set("checkpoint.every=1"));
    INFO(done.err);
    REQUIRE(done.exit_code == 0);
    const auto listed = here.troupe({"checkpoint", "ls", "model.checkpoints"});
    CHECK(listed.exit_code == 0);
    CHECK(contains(listed.out, "\n1       "));
    const auto verified = here.troupe({"checkpoint", "verify", "model.checkpoints"});
    CHECK(verified.exit_code == 0);
    CHECK(contains(verified.out, "checkpoint-000001: whole"));
    const auto made = here.troupe(
        {"checkpoint", "export", "model.checkpoints", "--number", "1", "--model", "then"});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(here.troupe({"evaluate", "--model", "then"}).exit_code == 0);
    const auto exported = here.troupe({"export", "--model", "then"});
    REQUIRE(exported.exit_code == 0);
    // The job that made it is another one; its rows are the same, to the last bit.
    const auto rows = exported.out.substr(exported.out.find("\n# table"));
    if (text.empty()) text = rows;
    CHECK((rows == text));
  }
}

TEST_CASE("a job whose process is killed goes on from its latest checkpoint to the same model") {
  const workplace straight;
  const auto expected = straight.train(set("training.epochs=6")).word("model_digest");
  const workplace here;
  here.amend("[[debug.slow]]\nslot = 0\ndelay = \"20 ms\"\n");
  running_program job(sim(set("training.epochs=6") + set("checkpoint.every=0.5") +
                          set("output.progress_every=20 ms")),
                      place_of(here));
  REQUIRE(job.wait_for_output("epoch 3/6"));
  job.send_signal(SIGKILL);
  CHECK(job.wait().signal == SIGKILL);
  CHECK(here.troupe({"checkpoint", "verify", "model.checkpoints"}).exit_code == 0);
  const auto again = here.troupe(words{"sim", "job.toml", "--json", "result.json", "--resume"} +
                                 set("training.epochs=6") + set("checkpoint.every=0.5"));
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(result_page(read_file(here / "result.json")).word("model_digest") == expected);
}

TEST_CASE("a server is killed in real time: its copy takes over, and the model is the same") {
  const workplace straight;
  const auto expected = straight.train(set("training.epochs=6")).word("model_digest");
  const workplace here;
  here.amend(
      "[[debug.slow]]\nslot = 0\ndelay = \"20 ms\"\n"
      "[[debug.kills]]\nrole = \"server\"\nindex = 1\nat = \"200 ms\"\nagain_after = \"600 ms\"\n");
  const auto done =
      here.troupe(words{"sim", "job.toml", "--json", "result.json", "--servers", "3"} +
                  set("training.epochs=6") + set("cluster.beat_every=20 ms") +
                  set("cluster.suspect_after=100 ms") + set("cluster.death_after=200 ms") +
                  set("cluster.lease=100 ms"));
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  const result_page page(read_file(here / "result.json"));
  CHECK(page.word("model_digest") == expected);
  CHECK(page.number("failovers") >= 1);
  CHECK(page.number("generation") == 0);
  CHECK(contains(done.out, "server 1 is dead"));
}

TEST_CASE("damaged checkpoints are named, passed over, and going on without any is refused") {
  const workplace here;
  here.amend(slow_job);
  REQUIRE(here.troupe(words{"sim", "job.toml"} + set("checkpoint.every=1")).exit_code == 0);
  write_file(here / "model.checkpoints/checkpoint-000001/weights.shard-0.rows", "nothing");
  const auto verified = here.troupe({"checkpoint", "verify", "model.checkpoints"});
  CHECK(verified.exit_code == 1);
  CHECK(contains(verified.out, "weights.shard-0.rows has 7 bytes and not"));
  const auto exported =
      here.troupe({"checkpoint", "export", "model.checkpoints", "--number", "1", "--model", "m"});
  CHECK(exported.exit_code != 0);
  CHECK(contains(exported.err, "has 7 bytes"));
  const auto none = here.troupe({"checkpoint", "ls", "nowhere"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "there are no checkpoints in nowhere"));
  CHECK(here.troupe({"checkpoint", "burn", "model.checkpoints"}).exit_code == 2);
  const auto without = here.troupe({"sim", "job.toml", "--resume"});
  CHECK(without.exit_code == 2);
  CHECK(contains(without.err, "--resume needs checkpoint.folder"));
  const workplace empty;
  const auto nothing =
      empty.troupe(words{"sim", "job.toml", "--resume"} + set("checkpoint.folder=c"));
  CHECK(nothing.exit_code == 2);
  CHECK(contains(nothing.err, "there is no checkpoint to go on from"));
}
