// Whole clusters in virtual time, on networks that are slow, lossy, cut, and with nodes that crash.
// Every message is written to bytes and read back on its way, unless a test says otherwise.

#include "apps/virtual/virtual_cluster.hpp"

#include <doctest/doctest.h>

#include "apps/local/local_cluster.hpp"
#include "tests/support/toy_job.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

struct shape {
  std::uint32_t workers = 3, servers = 3;
  bool bounded = true;
  std::uint64_t staleness = 0;
  virtual_settings settings;

  shape() {
    auto& e = settings.engine;
    e.serialise = true;
    e.network.between.latency = 200us;
    e.network.node_bandwidth = 1e8;
    e.price.of_work[static_cast<std::size_t>(work::keys_pushed)] = 100;
    e.price.of_work[static_cast<std::size_t>(work::keys_pulled)] = 50;
    e.price.message_sent = 1000;
    e.price.message_received = 2000;
    settings.time_limit = std::chrono::minutes(10);
  }
};

sim::node_pattern nodes(const char* text) {
  const auto p = sim::node_pattern::parse(text);
  REQUIRE(p.ok());
  return *p;
}

cluster_settings cluster_of(const toy_settings& toy, const shape& s) {
  cluster_settings c;
  c.scheduler.job.plan = plan_of(toy, s.bounded, s.staleness);
  c.scheduler.job.servers = s.servers;
  c.scheduler.job.workers = s.workers;
  c.scheduler.scores = std::make_shared<no_evaluation>();
  c.worker.app = std::make_shared<toy_application>(toy);
  c.worker.faults = std::make_shared<fault_switches>();
  c.restarts = {3, 60s, 1ms, 10ms};
  c.files = posix_file_system();
  return c;
}

virtual_run run(const toy_settings& toy, shape s) {
  s.settings.engine.cast = {s.servers, s.workers};
  return run_virtual_cluster(cluster_of(toy, s), s.settings, {});
}

virtual_run finished(const toy_settings& toy, const shape& s) {
  auto r = run(toy, s);
  INFO(r.status.text());
  REQUIRE(r.status.phase() == pb::JobStatus::FINISHED);
  return r;
}

std::string digest(const virtual_run& r) {
  return digest_of(r.status);
}

std::string local_digest(const toy_settings& toy, const shape& s) {
  const auto status = run_local_cluster(cluster_of(toy, s));
  REQUIRE(status.phase() == pb::JobStatus::FINISHED);
  return digest_of(status);
}

std::size_t count(const virtual_run& r, const std::string& text) {
  std::size_t found = 0;
  for (const auto& e : r.record.events) found += e.text.find(text) != std::string::npos ? 1 : 0;
  return found;
}

planned_fault fault_of(planned_fault::kind what, const char* node, const char* peer, duration at,
                       duration lasts) {
  return {what, nodes(node), nodes(peer), at, lasts};
}

}  // namespace

TEST_CASE("a bulk-synchronous virtual run ends with the model of the local run") {
  for (const char* combine : {"each", "sum", "mean"}) {
    toy_settings toy;
    toy.combine = combine;
    toy.two_tables = true;
    CHECK(digest(finished(toy, {})) == local_digest(toy, {}));
  }
}

TEST_CASE("the same settings give the same trace and the same model; another seed another trace") {
  shape s;
  s.bounded = false;  // asynchronous: the model hangs on the order of arrival
  s.settings.engine.network.between.jitter = 300us;
  const auto with_seed = [&](std::uint64_t seed) {
    s.settings.engine.seed = seed;
    return finished({}, s);
  };
  const auto a = with_seed(1), b = with_seed(1), c = with_seed(2);
  CHECK(a.record.trace_digest == b.record.trace_digest);
  CHECK(digest(a) == digest(b));
  CHECK(a.record.virtual_time == b.record.virtual_time);
  CHECK(a.record.trace_digest != c.record.trace_digest);
}

TEST_CASE("whether messages are written to bytes changes nothing that is seen") {
  for (const bool bounded : {true, false}) {
    shape s;
    s.bounded = bounded;
    const auto with = finished({}, s);
    s.settings.engine.serialise = false;
    const auto without = finished({}, s);
    CHECK(with.record.trace_digest == without.record.trace_digest);
    CHECK(digest(with) == digest(without));
  }
}

TEST_CASE(
    "unordered links that lose, double and reorder change neither the outcome nor the model") {
  toy_settings toy;
  toy.two_tables = true;
  const auto expected = digest(finished(toy, {}));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    shape s;
    auto& e = s.settings.engine;
    e.seed = seed;
    // Between workers and servers: what the scheduler says travels as TCP carries it.
    sim::link_override link;
    link.from = nodes("worker *");
    link.to = nodes("server *");
    link.ordered = false;
    link.loss = 0.1;
    link.duplication = 0.1;
    link.jitter = 5ms;
    e.network.links = {link};
    const auto r = finished(toy, s);
    CHECK(digest(r) == expected);
    CHECK(r.record.all().lost > 0);
    CHECK(r.record.all().duplicated > 0);
  }
}

TEST_CASE("loss on ordered links costs time and nothing else") {
  const auto calm = finished({}, {});
  shape s;
  s.settings.engine.network.between.loss = 0.05;
  s.settings.engine.network.between.retransmit_after = 20ms;
  const auto r = finished({}, s);
  CHECK(digest(r) == digest(calm));
  CHECK(r.record.all().lost == 0);
  CHECK(r.record.virtual_time > calm.record.virtual_time);
}

TEST_CASE("a cut shorter than the detection time costs time and nothing else") {
  const auto calm = finished({}, {});
  using kind = planned_fault::kind;
  for (const auto what : {kind::cut, kind::cut_one_way}) {
    shape s;
    s.settings.engine.network.detection = 2s;
    s.settings.faults = {fault_of(what, "worker 1", "server *", 5ms, 500ms)};
    const auto r = finished({}, s);
    CHECK(digest(r) == digest(calm));
    CHECK(count(r, "breaks") == 0);
    CHECK(r.record.all().lost == 0);
    CHECK(r.record.virtual_time > calm.record.virtual_time + 400ms);
  }
}

TEST_CASE(
    "a cut that breaks the connection loses messages, and the job goes on when it is healed") {
  const auto calm = finished({}, {});
  shape s;
  s.settings.engine.network.detection = 200ms;
  s.settings.faults = {fault_of(planned_fault::kind::cut, "worker 1", "server *", 5ms, 3s)};
  const auto r = finished({}, s);
  CHECK(digest(r) == digest(calm));
  CHECK(count(r, "breaks") > 0);
  CHECK(r.record.all().lost > 0);
}

TEST_CASE("two cuts of one link hold until both are healed") {
  shape s;
  s.settings.engine.network.detection = 10s;
  s.settings.faults = {fault_of(planned_fault::kind::cut, "worker 1", "server *", 5ms, 100ms),
                       fault_of(planned_fault::kind::cut, "worker 1", "server *", 50ms, 600ms)};
  const auto r = finished({}, s);
  CHECK(r.record.virtual_time > 650ms);
}

TEST_CASE(
    "a worker that crashes is started again, takes its slots over, and the model is the same") {
  const auto calm = finished({}, {});
  shape s;
  s.settings.faults = {fault_of(planned_fault::kind::crash, "worker 1", "*", 6ms, 50ms)};
  const auto r = finished({}, s);
  CHECK(count(r, "crashes") == 1);
  CHECK(count(r, "starts again") == 1);
  CHECK(digest(r) == digest(calm));
}

TEST_CASE("a node that is down cannot crash, nor start twice") {
  shape s;
  s.settings.faults = {fault_of(planned_fault::kind::crash, "worker 1", "*", 6ms, 50ms),
                       fault_of(planned_fault::kind::crash, "worker 1", "*", 20ms, 20ms),
                       fault_of(planned_fault::kind::crash, "worker 1", "*", 30ms, 100ms)};
  const auto r = finished({}, s);
  CHECK(count(r, "crashes") == 1);
  CHECK(count(r, "starts again") == 1);
  CHECK(digest(r) == digest(finished({}, {})));
}

TEST_CASE("a paused node delays the others, and nothing is lost") {
  const auto calm = finished({}, {});
  for (const char* who : {"server 1", "worker 0"}) {
    shape s;
    s.settings.faults = {fault_of(planned_fault::kind::pause, who, "*", 6ms, 300ms)};
    const auto r = finished({}, s);
    CHECK(digest(r) == digest(calm));
    CHECK(r.record.virtual_time > calm.record.virtual_time + 250ms);
  }
}

TEST_CASE("a job that cannot end fails at its limit of virtual time, and says where it was") {
  shape s;
  s.settings.time_limit = 2s;
  s.settings.faults = {fault_of(planned_fault::kind::pause, "server 1", "*", 6ms, 0ms)};
  const auto r = run({}, s);
  CHECK(r.status.phase() == pb::JobStatus::FAILED);
  CHECK(r.status.code() == static_cast<int>(errc::timeout));
  CHECK(r.status.text() ==
        "after 2.000 s of virtual time (simulate.time_limit) the job was still TRAINING");
}

TEST_CASE("every moment of every node is accounted for, and every byte that left") {
  const auto r = finished({}, {});
  std::uint64_t sent = 0, received = 0;
  for (const auto& n : r.record.nodes) {
    CHECK(n.times.total() == r.record.virtual_time);
    sent += n.bytes_sent;
    received += n.bytes_received;
  }
  CHECK(sent == r.record.all().bytes);
  CHECK(received <= sent);
  CHECK(received > sent * 9 / 10);
  sim::traffic links;
  for (const auto& [ends, t] : r.record.by_link) links += t;
  CHECK(links.bytes == r.record.all().bytes);
  CHECK(links.messages == r.record.all().messages);
}

TEST_CASE("nodes that share a host's cores take longer than nodes with a processor each") {
  shape s;
  const auto apart = finished({}, s);
  s.settings.engine.hosts = {1, 1};
  const auto together = finished({}, s);
  CHECK(digest(together) == digest(apart));
  CHECK(together.record.virtual_time > apart.record.virtual_time);
}
