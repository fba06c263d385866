// A deployed job under deaths and pauses of its processes: it ends, with the model of an
// undisturbed run in one process.
#include "tests/support/deployment.hpp"

using namespace troupe::testing;

namespace {

// Long enough for what happens meanwhile.
words long_job(int epochs = 60) {
  return set("training.epochs=" + std::to_string(epochs));
}

}  // namespace

TEST_CASE("certificates, a manifest, up, status, a server killed: the model is the simulator's") {
  const deployment cluster;
  const auto digest = cluster.digest_of_sim(long_job());
  const auto checked = cluster.here.troupe({"manifest", "check", "cluster.toml"});
  INFO(checked.err);
  CHECK(checked.exit_code == 0);
  const auto run = cluster.up(long_job());
  cluster.wait_until_clocks(100);
  const auto report = cluster.admin("status");
  CHECK(report.exit_code == 0);
  for (const auto* part : {"job: training", "server-1", "alive", "view", "worker-0"})
    CHECK(contains(report.out, part));
  cluster.signal("server-1", SIGKILL);
  check_finished(cluster, *run, digest);
  CHECK(contains(run->wait().out, "server-1"));
  CHECK(contains(run->wait().out, "signal 9, and is started again"));
  CHECK(cluster.pid_of("scheduler") == 0);
}

TEST_CASE("every role killed in one run") {
  const deployment cluster;
  const auto digest = cluster.digest_of_sim(long_job(120));
  const auto run = cluster.up(long_job(120));
  double clocks = 60;
  for (const auto* name : {"worker-0", "scheduler", "server-0", "worker-1", "server-1"}) {
    cluster.wait_until_clocks(clocks);
    // So that no server dies while it is the only one with the rows.
    cluster.wait_until_node("server-0", "alive");
    cluster.wait_until_node("server-1", "alive");
    cluster.wait_until("every shard has a copy", [](const result_page& s) {
      for (const auto& shard : s.value("shards").list_value().values())
        if (shard.struct_value().fields().at("chain").list_value().values_size() < 2) return false;
      return s.value("shards").list_value().values_size() > 0;
    });
    cluster.signal(name, SIGKILL);
    clocks += 300;
  }
  check_finished(cluster, *run, digest);
  CHECK(cluster.result().number("generation") == 0);
}

TEST_CASE("every role paused until it was given up, and woken") {
  const deployment cluster;
  const auto digest = cluster.digest_of_sim(long_job(150));
  const auto run = cluster.up(long_job(150));
  cluster.wait_until_clocks(60);
  for (const auto* name : {"worker-0", "server-1"}) {
    const auto pid = cluster.pid_of(name);
    cluster.signal(name, SIGSTOP);
    cluster.wait_until_node(name, "dead");
    REQUIRE(::kill(pid, SIGCONT) == 0);
    cluster.wait_until_node(name, "alive");
  }
  const auto pid = cluster.pid_of("scheduler");
  cluster.signal("scheduler", SIGSTOP);
  CHECK_FALSE(cluster.status("4").has_value());  // longer than any link's silence
  REQUIRE(::kill(pid, SIGCONT) == 0);
  check_finished(cluster, *run, digest);
}

TEST_CASE("thirty seconds without a scheduler") {
  const deployment cluster;
  const auto digest = cluster.digest_of_sim(long_job(20));
  const auto server = cluster.node("server-0"), second = cluster.node("server-1");
  const auto worker = cluster.node("worker-0"), other = cluster.node("worker-1");
  const auto begin = [&] {
    return cluster.node("scheduler", words{"job.toml", "--json", "result.json"} +
                                         deployment::quick_verdicts() + long_job(20));
  };
  auto scheduler = begin();  // last of all: they start in any order
  cluster.wait_until_clocks(20);
  cluster.signal("scheduler", SIGKILL);
  scheduler->wait();
  CHECK_FALSE(cluster.status("30").has_value());
  scheduler = begin();
  check_finished(cluster, *scheduler, digest);
  for (auto* each : {server.get(), second.get(), worker.get(), other.get()}) {
    INFO(each->wait().err);
    CHECK(each->wait().exit_code == 0);
  }
}

TEST_CASE("Ctrl-C saves the model, ends with 130 and leaves nobody behind") {
  const deployment cluster;
  const auto run = cluster.up(long_job(100'000));
  cluster.wait_until_clocks(50);
  const auto pid = cluster.pid_of("worker-1");
  run->send_signal(SIGINT);
  const auto& end = run->wait();  // whoever was left behind would keep this waiting
  INFO(end.out, end.err);
  CHECK_FALSE(end.timed_out);
  CHECK(end.exit_code == 130);
  CHECK(::kill(pid, 0) != 0);
  CHECK(cluster.here.troupe({"evaluate", "--model", "model"}).exit_code == 0);
}

TEST_CASE("a server that is told to end gives away what it has first") {
  const deployment cluster(deployment::shape{3, 1, 0, "", ""});
  const auto digest = cluster.digest_of_sim(long_job());
  const auto run = cluster.up(long_job() + set("cluster.copies=0"));
  cluster.wait_until_clocks(60);
  cluster.signal("server-2", SIGTERM);
  check_finished(cluster, *run, digest);
  CHECK(contains(cluster.log_of("server-2"), "is told to end, and is drained"));
  CHECK(cluster.result().number("generation") == 0);
}

TEST_CASE(
    "a scheduler that is started again after the end tells the same end, and learns nothing") {
  const deployment cluster(deployment::shape{1, 1, 0, "", ""});
  const auto server = cluster.node("server-0"), worker = cluster.node("worker-0");
  const auto begin = [&](const words& more) {
    return cluster.node("scheduler", words{"job.toml", "--json", "result.json"} +
                                         deployment::quick_verdicts() + long_job(3) + more);
  };
  REQUIRE(begin({"--run", "first"})->wait().exit_code == 0);
  const auto digest = cluster.result().word("model_digest");
  server->wait();
  worker->wait();
  // Nobody is there who could learn anything.
  const auto again = begin({"--run", "first"});
  check_finished(cluster, *again, digest);
  CHECK(cluster.here.troupe({"evaluate", "--model", "model"}).exit_code == 0);
}
