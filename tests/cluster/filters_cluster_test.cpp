// Filters in whole clusters: what they hide from the wire is hidden from nobody else.

#include <doctest/doctest.h>

#include "apps/local/local_cluster.hpp"
#include "apps/virtual/virtual_cluster.hpp"
#include "tests/support/toy_job.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;

cluster_settings cluster_of(const toy_settings& toy, const names& push, const names& pull) {
  cluster_settings c;
  auto& plan = c.scheduler.job.plan;
  plan = plan_of(toy);
  for (auto& table : *plan.mutable_tables()) {
    for (const auto& name : push) table.add_push_filters()->set_name(name);
    for (const auto& name : pull) table.add_pull_filters()->set_name(name);
  }
  c.scheduler.job.servers = c.scheduler.job.workers = 3;
  c.scheduler.scores = std::make_shared<no_evaluation>();
  c.worker.app = std::make_shared<toy_application>(toy);
  c.worker.faults = std::make_shared<fault_switches>();
  c.restarts = {3, 60s, 1ms, 10ms};
  c.files = posix_file_system();
  return c;
}

virtual_settings network(double loss) {
  virtual_settings s;
  auto& e = s.engine;
  e.cast = {3, 3};
  e.serialise = true;
  e.network.between.latency = 200us;
  e.network.between.loss = loss;
  e.network.node_bandwidth = 1e8;
  e.price.message_sent = 1000;
  e.price.message_received = 2000;
  s.time_limit = std::chrono::minutes(10);
  return s;
}

std::string digest(const virtual_run& r) {
  INFO(r.status.text());
  REQUIRE(r.status.phase() == pb::JobStatus::FINISHED);
  return digest_of(r.status);
}

std::uint64_t bytes(const pb::JobStatus& status, bool before) {
  std::uint64_t sum = 0;
  for (const auto& slot : status.slots())
    for (const auto& t : slot.traffic())
      for (const auto* counts : {&t.sent(), &t.received()})
        if (!counts->empty()) sum += before ? counts->Get(0) : counts->Get(counts->size() - 1);
  return sum;
}

const names lossless{"value_delta", "key_cache", "key_delta", "zstd"};

}  // namespace

TEST_CASE("lossless filters change no bit of the model, and fewer bytes travel") {
  toy_settings toy;
  toy.two_tables = true;
  const auto plain = digest(run_virtual_cluster(cluster_of(toy, {}, {}), network(0), {}));
  const auto filtered = run_virtual_cluster(cluster_of(toy, lossless, lossless), network(0), {});
  CHECK(digest(filtered) == plain);
  CHECK(bytes(filtered.status, false) < bytes(filtered.status, true));
  // In one process there is nothing to save: everything is counted, nothing encoded.
  const auto local = run_local_cluster(cluster_of(toy, lossless, lossless));
  CHECK(digest_of(local) == plain);
  CHECK(bytes(local, false) == bytes(local, true));
  auto forced = cluster_of(toy, lossless, lossless);
  forced.scheduler.job.plan.set_filters_everywhere(true);
  const auto encoded = run_local_cluster(forced);
  CHECK(digest_of(encoded) == plain);
  CHECK(bytes(encoded, false) < bytes(encoded, true));
}

TEST_CASE("seeded lossy filters give the same model whatever goes wrong") {
  for (const names& push : {names{"fixed8", "key_cache", "lz4"}, names{"bf16"},
                            names{"f16", "zstd"}, names{"random_skip", "fixed16", "key_delta"}})
    for (const names& pull : {names{}, names{"bf16", "key_cache"}, names{"fixed16"}}) {
      CAPTURE(push[0]);
      toy_settings toy;
      const auto calm = digest(run_virtual_cluster(cluster_of(toy, push, pull), network(0), {}));
      CHECK(digest(run_virtual_cluster(cluster_of(toy, push, pull), network(0.05), {})) == calm);
      auto throwing = cluster_of(toy, push, pull);
      throwing.worker.faults = std::make_shared<fault_switches>(
          std::vector<fault>{{1, 3, fault_place::compute, 1},
                             {2, 5, fault_place::between_sends, 1},
                             {0, 4, fault_place::repeat_push, ~0u}},
          std::vector<slowness>{});
      CHECK(digest(run_virtual_cluster(throwing, network(0.02), {})) == calm);
    }
}

TEST_CASE("a server that comes back has forgotten the keys, asks for them, and the model stays") {
  toy_settings toy;
  toy.clocks = 40;
  auto calm = cluster_of(toy, lossless, lossless);
  calm.scheduler.job.copies = 1;
  const auto expected = digest(run_virtual_cluster(calm, network(0), {}));
  auto s = network(0);
  planned_fault crash;
  crash.what = planned_fault::kind::crash;
  const auto server = sim::node_pattern::parse("server 1");
  REQUIRE(server.ok());
  crash.node = *server;
  crash.at = 40ms;
  crash.lasts = 100ms;
  s.faults = {crash};
  CHECK(digest(run_virtual_cluster(calm, s, {})) == expected);
}
