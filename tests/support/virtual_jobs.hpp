#pragma once
// Toy jobs on whole clusters in virtual time, whose nodes die.

#include <doctest/doctest.h>

#include <string>

#include "apps/virtual/virtual_cluster.hpp"
#include "tests/support/counters.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/toy_job.hpp"

namespace troupe::testing {

using namespace std::chrono_literals;

struct virtual_job {
  std::uint32_t workers = 3, servers = 3, copies = 1;
  bool bounded = true;
  std::uint64_t staleness = 0;
  std::uint64_t checkpoint_every = 0;
  std::string folder;  // of checkpoints and the scheduler's log; empty: none
  bool lease = true;
  std::optional<counting> counts;  // instead of the toy
  toy_settings toy;
  virtual_settings settings;

  virtual_job() {
    auto& e = settings.engine;
    e.network.between.latency = 200us;
    e.network.node_bandwidth = 1e8;
    e.network.detection = 20ms;
    e.price.of_work[static_cast<std::size_t>(work::keys_pushed)] = 100;
    e.price.of_work[static_cast<std::size_t>(work::keys_pulled)] = 50;
    e.price.message_sent = 1000;
    e.price.message_received = 2000;
    settings.time_limit = std::chrono::minutes(10);
    settings.watch_every = 1ms;
  }

  cluster_settings cluster() const {
    cluster_settings c;
    auto& job = c.scheduler.job;
    job.plan = plan_of(toy, bounded, staleness);
    if (counts) {
      auto& table = *job.plan.mutable_tables(0);
      table.set_function("add");
      table.clear_schedule_parameters();
      table.set_value_type("f64");
      table.set_initialiser("zero");
    }
    auto& t = *job.plan.mutable_timings();
    t.set_beat_every(duration(5ms).count());
    t.set_suspect_after(duration(15ms).count());
    t.set_death_after(duration(30ms).count());
    t.set_lease(lease ? duration(15ms).count() : 0);
    t.set_report_every(duration(5ms).count());
    t.set_request_timeout(duration(40ms).count());
    t.set_hold(duration(100ms).count());
    t.set_pull_retries(1000);
    t.set_transfer_chunk(2000);
    job.servers = servers;
    job.workers = workers;
    job.copies = copies;
    job.virtual_nodes = 8;
    job.checkpoint_every = checkpoint_every;
    if (!folder.empty()) {
      job.checkpoint_folder = c.scheduler.state_folder = folder;
      c.scheduler.checkpoints = std::make_shared<checkpoint_store>(posix_file_system(), folder);
      c.scheduler_restarts = {3, 60s, 1ms, 10ms};
    }
    c.scheduler.scores = std::make_shared<no_evaluation>();
    c.worker.app = std::make_shared<toy_application>(toy);
    if (counts) c.worker.app = std::make_shared<counting_application>(*counts);
    c.worker.faults = std::make_shared<fault_switches>();
    c.restarts = {100, 60s, 1ms, 10ms};
    c.beat_every = 5ms;
    c.request_timeout = 200ms;
    c.files = posix_file_system();
    return c;
  }

  virtual_job& fault(planned_fault::kind what, const char* who, duration at, duration lasts) {
    const auto node = sim::node_pattern::parse(who), all = sim::node_pattern::parse("*");
    REQUIRE(node.ok());
    settings.faults.push_back({what, *node, *all, at, lasts});
    return *this;
  }
  virtual_job& crash(const char* who, duration at, duration lasts = {}) {
    return fault(planned_fault::kind::crash, who, at, lasts);
  }
  virtual_job& strike(const char* landmark, const char* who, std::uint32_t occurrence = 1,
                      duration lasts = {}) {
    const auto node = sim::node_pattern::parse(who);
    REQUIRE(node.ok());
    settings.strikes.push_back({landmark, *node, occurrence, lasts});
    return *this;
  }

  virtual_run run() const {
    auto with = settings;
    with.engine.cast = {servers, workers};
    for (const auto& f : with.faults)
      if (f.what == planned_fault::kind::join) {
        auto& count =
            f.node.role == pb::SERVER ? with.engine.cast.servers : with.engine.cast.workers;
        count = std::max(count, *f.node.index + 1);
      }
    return run_virtual_cluster(cluster(), with, {});
  }
  virtual_run finished() const {
    auto r = run();
    std::string events;
    for (const auto& e : r.status.events())
      events += "\n  " + std::to_string(static_cast<double>(e.at_ns()) * 1e-6) + " ms  " + e.text();
    INFO(r.status.text() << events);
    REQUIRE(r.status.phase() == pb::JobStatus::FINISHED);
    return r;
  }
  std::string digest() const { return digest_of(finished().status); }
};

}  // namespace troupe::testing
