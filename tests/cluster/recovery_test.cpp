// What is left when more is lost than there are copies; checkpoints; and nodes that sleep, come
// late, come back and leave.

#include <doctest/doctest.h>

#include "actors/server/row_file.hpp"
#include "tests/support/virtual_jobs.hpp"

using namespace troupe;
using namespace troupe::testing;
using kind = planned_fault::kind;

namespace {

virtual_job job(std::uint32_t copies = 1) {
  virtual_job j;
  j.copies = copies;
  j.toy.two_tables = true;
  j.toy.function = "adagrad";
  j.toy.clocks = 20;
  return j;
}

bool says(const virtual_run& r, const std::string& text) {
  for (const auto& e : r.status.events())
    if (e.text().find(text) != std::string::npos) return true;
  return false;
}

// The sum over a checkpoint's row files, whoever had written them.
std::string digest_of_files(const std::string& folder, const pb::Checkpoint& c) {
  hash128 weights, second;
  for (const auto& f : c.files()) {
    const auto file = row_file::open(*posix_file_system(), folder + "/" + f.name());
    REQUIRE(file.ok());
    (file->facts().table == "weights" ? weights : second) += file->facts().digest;
  }
  return to_hex(weights) + " " + to_hex(second) + " ";
}

virtual_run resumed(virtual_job j) {
  auto with = j.settings;
  with.engine.cast = {j.servers, j.workers};
  auto c = j.cluster();
  c.scheduler.job.resume = true;
  auto r = run_virtual_cluster(c, with, {});
  INFO(r.status.text());
  REQUIRE(r.status.phase() == pb::JobStatus::FINISHED);
  return r;
}

}  // namespace

TEST_CASE("without copies a dead server sends the job back to its start, or to a checkpoint") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  for (const bool checkpoints : {false, true})
    for (int i = 1; i <= 12; ++i) {
      auto j = job(0);
      if (checkpoints) j.checkpoint_every = 4;
      if (checkpoints) j.folder = folder / std::to_string(i);
      j.crash("server 1", 4ms * i, 10ms);
      CAPTURE(i);
      const auto r = j.finished();
      CHECK(digest_of(r.status) == expected);
      if (4ms * i < 40ms) CHECK(r.status.generation() == 1);
      if (checkpoints && i > 6) CHECK(says(r, "goes on from checkpoint"));
    }
}

TEST_CASE("more servers die at once than there are copies: the job goes back and ends the same") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  for (int i = 1; i <= 8; ++i) {
    auto j = job(1);
    j.checkpoint_every = 3;
    j.folder = folder / std::to_string(i);
    j.crash("server 0", 5ms * i, 30ms).crash("server 1", 5ms * i, 40ms);
    CAPTURE(i);
    const auto r = j.finished();
    CHECK(digest_of(r.status) == expected);
    CHECK(r.status.generation() >= 1);
  }
}

TEST_CASE("checkpoints are taken while training goes on, and cost the model nothing") {
  temporary_folder folder;
  auto j = job();
  j.checkpoint_every = 4;
  j.folder = folder / "c";
  const auto r = j.finished();
  CHECK(digest_of(r.status) == job(0).digest());
  CHECK(r.status.checkpoint() >= 3);
}

TEST_CASE(
    "a checkpoint holds exactly what the clocks before it made, whoever wrote it, and any number "
    "of "
    "servers goes on from it to the same end") {
  const auto expected = job(0).digest();
  std::string content;
  for (const std::uint32_t writers : {3u, 1u, 4u}) {
    temporary_folder folder;
    auto j = job();
    j.servers = writers;
    j.checkpoint_every = 8;
    j.folder = folder / "c";
    j.finished();
    const checkpoint_store store(posix_file_system(), folder / "c");
    auto all = store.list();
    REQUIRE(all.ok());
    REQUIRE(all->size() == 2);
    REQUIRE(posix_file_system()->remove((*all)[1].folder));
    const auto& first = (*all)[0];
    CHECK(first.manifest->clock() == 8);
    // Weights and optimiser state are of one moment, or the rest of the run would end elsewhere.
    const auto its = digest_of_files(first.folder, *first.manifest);
    if (content.empty()) content = its;
    CHECK(its == content);
    for (const std::uint32_t readers : {1u, 2u, 5u}) {
      auto again = job();
      again.servers = readers;
      again.folder = folder / "c";
      CAPTURE(writers);
      CAPTURE(readers);
      const auto r = resumed(again);
      CHECK(digest_of(r.status) == expected);
      CHECK(says(r, "goes on from checkpoint 1, at clock 8"));
    }
  }
}

TEST_CASE("a run goes on from a checkpoint whose slots had moved, as it would have") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  auto j = job();
  j.checkpoint_every = 8;
  j.folder = folder / "c";
  j.crash("worker 1", 3ms, 10ms).crash("worker 0", 5ms, 10ms);
  j.finished();
  const checkpoint_store store(posix_file_system(), folder / "c");
  auto all = store.list();
  REQUIRE(all.ok());
  REQUIRE(all->size() == 2);
  REQUIRE(posix_file_system()->remove((*all)[1].folder));
  std::uint64_t newest = 0;  // life of a slot
  for (const auto& s : (*all)[0].manifest->shards())
    for (const auto& record : s.slots()) newest = std::max<std::uint64_t>(newest, record.epoch());
  REQUIRE(newest > 1);
  auto again = job();
  again.folder = folder / "c";
  CHECK(digest_of(resumed(again).status) == expected);
}

TEST_CASE("nodes die in every state of a checkpoint, and the job ends the same") {
  const auto expected = job(0).digest();
  temporary_folder folder;
  int run = 0;
  for (const auto& [landmark, who] : {std::pair(landmark::snapshot_begun, "server *"),
                                      {landmark::snapshot_piece, "server *"},
                                      {landmark::snapshot_over, "server *"},
                                      {landmark::checkpoint_begun, "scheduler"},
                                      {landmark::checkpoint_written, "scheduler"},
                                      {landmark::checkpoint_counts, "scheduler"},
                                      {landmark::rows_loaded, "server *"},
                                      {landmark::saving, "scheduler"}})
    for (const std::uint32_t occurrence : {1u, 4u}) {
      auto j = job();
      j.checkpoint_every = 4;
      j.folder = folder / std::to_string(run++);
      if (std::string(landmark) == landmark::rows_loaded)  // two at once, so that rows are loaded
        j.crash("server 0", 30ms, 10ms).crash("server 1", 30ms, 10ms);
      if (std::string(landmark) == landmark::saving) continue;  // the toy job saves no model
      j.strike(landmark, who, occurrence, 12ms);
      CAPTURE(std::string(landmark));
      CAPTURE(occurrence);
      const auto r = j.finished();
      CHECK(digest_of(r.status) == expected);
      CHECK(r.landmarks.count(landmark) == 1);
    }
}

TEST_CASE("asynchronous: a lost shard alone is restored, and the gap is reported") {
  temporary_folder folder;
  for (const bool checkpoints : {false, true})
    for (int i = 0; i < 6; ++i) {
      virtual_job j;
      j.bounded = false;
      j.copies = 0;
      j.counts.emplace();
      j.counts->clocks = 150;
      if (checkpoints) j.checkpoint_every = 20;
      j.folder = folder / (std::to_string(checkpoints) + std::to_string(i));
      j.crash("server 1", 10ms + 8ms * i, 10ms);
      CAPTURE(i);
      const auto r = j.finished();
      CHECK(says(r, "was lost with all its copies"));
      CHECK(r.status.generation() == 0);
      // Something is lost, and nothing counts twice.
      const auto all = sum_of(*j.counts);
      CHECK(r.status.tables(0).l1() <= all);
      CHECK(r.status.tables(0).l1() > all / 2);
    }
}

TEST_CASE("bounded delay: nobody waits for ever at a shard that was restored") {
  for (const char* combine : {"each", "sum"})
    for (const std::uint64_t staleness : {1u, 3u})
      for (int i = 0; i < 6; ++i) {
        auto j = job(0);
        j.staleness = staleness;
        j.toy.combine = combine;
        j.toy.clocks = 60;
        j.crash("server 1", 7ms + 5ms * i, 10ms);
        if (i % 2 == 1) j.crash("worker 1", 9ms + 5ms * i, 10ms);
        CAPTURE(i);
        CAPTURE(staleness);
        const auto r = j.finished();
        CHECK(says(r, "was lost with all its copies"));
        CHECK(r.record.virtual_time < 5s);
      }
}

TEST_CASE("asynchronous checkpoints are resumed by each shard's own numbers") {
  for (const std::uint32_t readers : {1u, 3u, 4u}) {
    temporary_folder folder;
    virtual_job j;
    j.bounded = false;
    j.counts.emplace();
    j.counts->clocks = 60;
    j.checkpoint_every = 15;
    j.folder = folder / "c";
    j.finished();
    auto again = j;
    again.servers = readers;
    again.checkpoint_every = 0;
    CAPTURE(readers);
    // Every push counts once, although the shards were written at different moments.
    CHECK(resumed(again).status.tables(0).l1() == sum_of(*j.counts));
  }
}

TEST_CASE("a server that sleeps for half the death timeout is not dead; for twice, it is fenced") {
  const auto expected = job(0).digest();
  auto half = job();
  half.fault(kind::pause, "server 1", 10ms, 12ms);
  auto r = half.finished();
  CHECK(digest_of(r.status) == expected);
  CHECK(r.status.failovers() == 0);
  auto twice = job();
  twice.fault(kind::pause, "server 1", 10ms, 60ms);
  r = twice.finished();
  CHECK(digest_of(r.status) == expected);
  CHECK(r.status.failovers() == 1);
  CHECK(r.status.generation() == 0);
}

TEST_CASE("a scheduler that slept itself does not take the others for dead") {
  auto j = job();
  j.fault(kind::pause, "scheduler", 10ms, 500ms);
  const auto r = j.finished();
  CHECK(digest_of(r.status) == job(0).digest());
  CHECK(r.status.failovers() == 0);
  CHECK_FALSE(says(r, "is dead"));
}

TEST_CASE(
    "while the scheduler is away for 30 s pushes and pulls go on, and it takes its nodes up") {
  temporary_folder folder;
  auto j = job();
  j.folder = folder / "c";
  j.crash("scheduler", 12ms, 30s);
  const auto r = j.finished();
  CHECK(digest_of(r.status) == job(0).digest());
  CHECK(r.status.failovers() == 0);
  // All was trained when it came back.
  CHECK(r.record.virtual_time < 30s + 12ms + 40ms);
}

TEST_CASE("a worker dies for good while others wait for it: its slots go on elsewhere") {
  auto j = job();
  j.crash("worker 1", 10ms);
  const auto r = j.finished();
  CHECK(digest_of(r.status) == job(0).digest());
  CHECK(says(r, "worker 1 is dead"));
  CHECK(says(r, "slot 1 goes on at worker"));
}

TEST_CASE("a server that comes back before its silence is noticed is another one, and empty") {
  for (int i = 1; i < 10; ++i) {
    auto j = job();
    j.crash("server 2", 4ms * i, 2ms);
    CAPTURE(i);
    const auto r = j.finished();
    CHECK(digest_of(r.status) == job(0).digest());
    if (r.status.failovers() > 0) CHECK(says(r, "server 2 joins as incarnation 2"));
  }
}

TEST_CASE("nodes start in any order, the scheduler last and a worker a minute late") {
  auto j = job();
  j.crash("scheduler", 0ms, 5s).crash("worker 2", 0ms, 60s);
  const auto r = j.finished();
  CHECK(digest_of(r.status) == job(0).digest());
  CHECK(r.record.virtual_time > 60s);
}

TEST_CASE("servers and workers join, others are drained, and what must move moves") {
  auto j = job();
  j.toy.clocks = 60;
  auto calm = j;
  j.fault(kind::join, "server 3", 10ms, {}).fault(kind::join, "worker 3", 15ms, {});
  j.fault(kind::drain, "server 1", 60ms, {}).fault(kind::drain, "worker 0", 60ms, {});
  j.fault(kind::rebalance, "*", 100ms, {});
  const auto r = j.finished();
  CHECK(digest_of(r.status) == calm.digest());
  CHECK(r.status.generation() == 0);
  CHECK(r.landmarks.at(landmark::shard_split) > 0);
  CHECK(says(r, "server 3 joins"));
}

TEST_CASE("memory, queues and timers are after 100 failovers as after 1") {
  const auto run = [](int failovers) {
    virtual_job j;
    j.bounded = false;
    j.counts.emplace();
    j.counts->keys = 10;
    j.counts->clocks = 150 * static_cast<std::uint64_t>(failovers);
    for (int i = 0; i < failovers; ++i) {
      const auto who = "server " + std::to_string(i % 3);
      j.crash(who.c_str(), 60ms * (i + 1), 5ms);
    }
    const auto r = j.finished();
    CHECK(r.status.tables(0).l1() == sum_of(*j.counts));
    return r;
  };
  const auto one = run(2), many = run(100);
  CHECK(many.status.failovers() >= 95);
  CHECK(many.events_left <= one.events_left * 2);
  CHECK(many.handles_left <= one.handles_left * 2);
  CHECK(many.status.tables(0).live_bytes() <= one.status.tables(0).live_bytes() * 2);
}
