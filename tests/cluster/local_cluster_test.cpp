// Whole clusters in one process, with faults made on purpose.

#include "apps/local/local_cluster.hpp"

#include <doctest/doctest.h>

#include "tests/support/toy_job.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

struct shape {
  explicit shape(std::uint32_t w = 2, std::uint32_t s = 3, std::size_t t = 2)
      : workers(w), servers(s), threads(t) {}
  std::uint32_t workers, servers;
  std::size_t threads;
  bool bounded = true;
  std::uint64_t staleness = 0;
  std::vector<fault> faults;
  std::vector<slowness> slow;
  std::uint32_t restarts = 3;
};

pb::JobStatus run(const toy_settings& toy, const shape& s) {
  cluster_settings c;
  c.scheduler.job.plan = plan_of(toy, s.bounded, s.staleness);
  c.scheduler.job.servers = s.servers;
  c.scheduler.job.workers = s.workers;
  c.scheduler.scores = std::make_shared<no_evaluation>();
  c.worker.app = std::make_shared<toy_application>(toy);
  c.worker.faults = std::make_shared<fault_switches>(s.faults, s.slow);
  c.restarts = {s.restarts, 60s, 1ms, 10ms};
  c.threads = s.threads;
  c.files = posix_file_system();
  return run_local_cluster(c);
}

std::string digest(const toy_settings& toy, const shape& s) {
  const auto status = run(toy, s);
  INFO(status.text());
  CHECK(status.phase() == pb::JobStatus::FINISHED);
  return digest_of(status);
}

const std::vector<fault> two_crashes{{1, 3, fault_place::compute, 1},
                                     {2, 5, fault_place::between_sends, 1}};

}  // namespace

TEST_CASE(
    "a bulk-synchronous model has the same bytes for any number of workers, servers and threads, "
    "and with faults") {
  struct row {
    const char* name;
    toy_settings toy;
  };
  std::vector<row> jobs(6);
  jobs[0].name = "each";
  jobs[1].name = "sum";
  jobs[1].toy.combine = "sum";
  jobs[2].name = "mean, f64";
  jobs[2].toy.combine = "mean";
  jobs[2].toy.value_type = "f64";
  jobs[3].name = "adam, each";
  jobs[3].toy.function = "adam";
  jobs[4].name = "two tables, several pushes a clock";
  jobs[4].toy.two_tables = true;
  jobs[5].name = "two tables, sum, ftrl";
  jobs[5].toy.two_tables = true;
  jobs[5].toy.combine = "sum";
  jobs[5].toy.function = "ftrl";
  for (const auto& [name, toy] : jobs) {
    INFO(std::string(name));
    const auto expected = digest(toy, shape(1, 1, 1));
    CHECK(digest(toy, shape(2, 1)) == expected);
    CHECK(digest(toy, shape(4, 3)) == expected);
    shape crashing{2, 3};
    crashing.faults = two_crashes;
    CHECK(digest(toy, crashing) == expected);
    shape repeating{4, 3};
    repeating.faults = {{0, 2, fault_place::repeat_push, 1000},
                        {3, 4, fault_place::repeat_push, 1000}};
    CHECK(digest(toy, repeating) == expected);
    auto other = toy;
    other.seed = 2;
    CHECK(digest(other, shape(2, 3)) != expected);
  }
}

TEST_CASE("crashes are counted, and each is followed by a restart") {
  shape s;
  s.faults = two_crashes;
  const auto status = run({}, s);
  CHECK(status.restarts() == 2);
  CHECK(status.phase() == pb::JobStatus::FINISHED);
}

TEST_CASE("a worker that throws again and again ends the job with an error that names it") {
  shape s;
  s.restarts = 2;
  s.faults = {{1, 3, fault_place::compute, 100}};
  const auto status = run({}, s);
  CHECK(status.phase() == pb::JobStatus::FAILED);
  CHECK(status.code() == static_cast<int>(errc::lost));
  CHECK(status.text().find("worker 1 died and its restart budget is spent after 2 restarts") == 0);
  CHECK(status.text().find("slot 1 throws while it computes clock 3") != std::string::npos);
}

TEST_CASE("bounded delay: staleness never exceeds its bound, with crashes and a slow slot too") {
  for (const std::uint64_t bound : {1, 3}) {
    shape s{4, 2};
    s.staleness = bound;
    s.slow = {{0, 2ms}};
    s.faults = two_crashes;
    const auto status = run({}, s);
    REQUIRE(status.phase() == pb::JobStatus::FINISHED);
    for (const auto& slot : status.slots()) CHECK(slot.max_staleness() <= bound);
  }
}

TEST_CASE("bounded delay with tables that add up finishes too") {
  shape s{4, 2};
  s.staleness = 2;
  toy_settings toy;
  toy.combine = "sum";
  CHECK(run(toy, s).phase() == pb::JobStatus::FINISHED);
}

TEST_CASE("a not-a-number is stopped at the client, counted, and the job goes on") {
  shape s;
  s.faults = {{1, 2, fault_place::not_a_number, 1}};
  const auto status = run({}, s);
  CHECK(status.phase() == pb::JobStatus::FINISHED);
  std::uint64_t rejected = 0;
  for (const auto& slot : status.slots()) rejected += slot.rejected();
  CHECK(rejected == 1);
}

TEST_CASE("more slots than work: a slot with nothing to do blocks nobody") {
  toy_settings toy;
  toy.slots = 6;
  toy.clocks = 2;
  CHECK(run(toy, shape(2, 2)).phase() == pb::JobStatus::FINISHED);
}
