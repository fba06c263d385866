// Evaluations during training, the best model kept and restored, and an earlier one loaded, by
// whole clusters in virtual time, while messages are lost, doubled and late and workers crash.

#include <doctest/doctest.h>

#include <filesystem>

#include "apps/virtual/virtual_cluster.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/toy_job.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

// What it measures are the tables themselves, so that any other cut would show.
struct table_sums final : evaluation {
  void clear() override {}
  void add(const pb::EvaluatedPart&, const blob&) override {}
  std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>& tables) const override {
    pb::Metric sum;
    sum.set_name("sum");
    sum.set_known(true);
    for (const auto& t : tables) sum.set_value(sum.value() + t.l2());
    return {sum};
  }
};

struct outcome {
  pb::JobStatus status;
  std::vector<double> sums;  // of the evaluations, the last one of the final model
  std::vector<std::string> files;
  std::uint64_t clocks = 0;
  std::size_t crashes = 0;
};

struct trouble {
  double loss = 0;
  bool crash = false;
  bool cut = false;  // the scheduler from a worker, for so long that messages are given up
  std::uint64_t seed = 1;
};

outcome run(const temporary_folder& folder, const trouble& t, std::uint64_t every, bool keeps_best,
            const std::vector<std::string>& initial = {}) {
  toy_settings toy;
  toy.clocks = 30;
  cluster_settings c;
  auto& job = c.scheduler.job;
  job.plan = plan_of(toy);
  job.servers = 3;
  job.workers = 2;
  job.measure_every = every;
  // The sums grow: the first evaluation is the best, and has to be brought back.
  job.stopping = {"sum", false, 0};
  job.model_folder = folder / "model";
  if (keeps_best) job.best_folder = folder / "best";
  const auto files = posix_file_system();
  for (const auto& path : {folder / "model", folder / "best"})
    REQUIRE(files->create_folders(path).ok());
  job.initial_folder = folder / "earlier";
  job.initial_files = initial;
  outcome o;
  c.scheduler.scores = std::make_shared<table_sums>();
  c.scheduler.record = [&o](const pb::EvaluationRecord& r) -> result<void> {
    o.sums.push_back(r.metrics(0).value());
    return {};
  };
  c.scheduler.publish = [&o](const publish_model& m) -> result<void> {
    o.files = m.parts;
    o.clocks = m.clocks;
    return {};
  };
  c.worker.app = std::make_shared<toy_application>(toy);
  c.worker.faults = std::make_shared<fault_switches>();
  c.restarts = {20, 60s, 1ms, 10ms};
  c.files = files;
  virtual_settings v;
  v.engine.serialise = true;
  v.engine.seed = t.seed;
  v.engine.cast = {job.servers, job.workers};
  v.engine.network.between.latency = 200us;
  v.engine.network.between.jitter = 300us;
  // Between workers and servers: what the scheduler says travels as TCP carries it.
  sim::link_override link;
  link.from = *sim::node_pattern::parse("worker *");
  link.to = *sim::node_pattern::parse("server *");
  link.ordered = t.loss == 0;
  link.loss = t.loss;
  link.jitter = t.loss == 0 ? 300us : 5ms;
  v.engine.network.links = {link};
  v.engine.price.message_received = 2000;
  v.time_limit = std::chrono::minutes(10);
  if (t.crash) {
    const auto worker = sim::node_pattern::parse("worker *");
    const auto nobody = sim::node_pattern::parse("*");
    // Again and again, so that some strike while slots are halted or the best is written.
    for (int i = 1; i <= 6; ++i)
      v.faults.push_back({planned_fault::kind::crash, *worker, *nobody,
                          7ms * i + 1ms * static_cast<int>(t.seed), 3ms});
  }
  if (t.cut)
    v.faults.push_back({planned_fault::kind::cut, *sim::node_pattern::parse("scheduler"),
                        *sim::node_pattern::parse("worker 1"),
                        10ms + 3ms * static_cast<int>(t.seed), 20s});
  const auto done = run_virtual_cluster(c, v, {});
  o.status = done.status;
  for (const auto& e : done.record.events) o.crashes += e.text.find("crash") != std::string::npos;
  INFO(o.status.text());
  REQUIRE(o.status.phase() == pb::JobStatus::FINISHED);
  return o;
}

}  // namespace

TEST_CASE("evaluations see the same cut, and the model is the same, whatever befalls the workers") {
  const temporary_folder folder;
  const auto unmeasured = run(folder, {}, 0, false);
  const auto calm = run(folder, {}, 7, false);
  CHECK(digest_of(calm.status) == digest_of(unmeasured.status));
  CHECK(calm.sums.size() == 6);  // clocks 7, 14, 21, 28, the last, and the final model
  CHECK(calm.status.best().clock() == 7);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const auto lossy = run(folder, {0.03, false, false, seed}, 7, false);
    CHECK(lossy.sums == calm.sums);
    CHECK(digest_of(lossy.status) == digest_of(calm.status));
    const auto crashed = run(folder, {0, true, false, seed}, 7, false);
    CHECK(crashed.crashes > 0);
    CHECK(crashed.sums == calm.sums);
    CHECK(digest_of(crashed.status) == digest_of(calm.status));
  }
}

TEST_CASE("a limit that a cut link swallowed is told again, and the model is the same") {
  const temporary_folder folder;
  const auto calm = run(folder, {}, 7, false);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const auto cut = run(folder, {0, false, true, seed}, 7, false);
    CHECK(cut.sums == calm.sums);
    CHECK(digest_of(cut.status) == digest_of(calm.status));
  }
}

TEST_CASE("the best model comes back whole, whatever befalls the workers meanwhile") {
  const temporary_folder folder;
  const auto last = run(folder, {}, 7, false);
  const auto calm = run(folder, {}, 7, true);
  CHECK(digest_of(calm.status) != digest_of(last.status));
  CHECK(calm.sums.back() == calm.sums.front());
  CHECK(calm.clocks == 7);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const auto troubled = run(folder, {0.02, true, false, seed}, 7, true);
    CHECK(digest_of(troubled.status) == digest_of(calm.status));
    CHECK(troubled.sums == calm.sums);
  }
}

TEST_CASE("a job starts from the rows that another one wrote") {
  const temporary_folder folder;
  const auto first = run(folder, {}, 0, false);
  std::filesystem::rename(folder / "model", folder / "earlier");
  const auto calm = run(folder, {}, 0, false, first.files);
  CHECK(digest_of(calm.status) != digest_of(first.status));
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    CHECK(digest_of(run(folder, {0.03, true, false, seed}, 0, false, first.files).status) ==
          digest_of(calm.status));
}
