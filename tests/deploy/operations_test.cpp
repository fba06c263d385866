// What an administrator does with a running cluster.
#include <sys/stat.h>

#include "tests/support/deployment.hpp"

using namespace troupe::testing;

TEST_CASE("nodes are added and drained, a checkpoint is taken, and the job is stopped") {
  const deployment cluster(deployment::shape{2, 2, 1, "", ""});
  const auto run = cluster.up(set("training.epochs=100000") + set("checkpoint.folder=checkpoints"));
  cluster.wait_until_clocks(40);

  const auto added = cluster.admin("add", {"server-2"});
  INFO(added.out, added.err);
  CHECK(added.exit_code == 0);
  CHECK(contains(added.out, "server-2 has joined"));
  check_refused(cluster.admin("add", {"server-2"}), {"server-2 is there already"});
  cluster.wait_until("server-2 leads shards", [](const result_page& s) {
    for (const auto& n : s.value("nodes").list_value().values()) {
      const auto& f = n.struct_value().fields();
      if (f.at("name").string_value() == "server-2") return f.at("shards").number_value() > 0;
    }
    return false;
  });

  CHECK(cluster.admin("drain", {"server-0"}).exit_code == 0);
  cluster.wait_until_node("server-0", "drained");
  const auto again = cluster.admin("drain", {"server-0"});
  CHECK(again.exit_code == 1);
  CHECK(contains(again.err, "being drained already"));
  check_refused(cluster.admin("drain", {"server-7"}), {"no node 'server-7'", "did you mean"});

  const auto taken = cluster.here.troupe({"checkpoint", "now", "--manifest", "cluster.toml"});
  INFO(taken.out, taken.err);
  CHECK(taken.exit_code == 0);
  CHECK(contains(taken.out, "checkpoint 1 will be taken"));
  cluster.wait_until("a checkpoint",
                     [](const result_page& s) { return s.number("checkpoint") == 1; });
  CHECK(cluster.here.troupe({"checkpoint", "verify", "checkpoints"}).exit_code == 0);
  CHECK(cluster.admin("rebalance").exit_code == 0);

  CHECK(cluster.admin("stop").exit_code == 0);
  const auto& end = run->wait();
  INFO(end.out, end.err);
  CHECK_FALSE(end.timed_out);
  CHECK(end.exit_code == 130);
  CHECK(cluster.pid_of("server-2") == 0);  // it heard of the end like the others
}

TEST_CASE("a manifest is checked against what is there") {
  const deployment cluster;
  const auto check = [&](const std::string& manifest) {
    cluster.here.write("other.toml", manifest);
    return cluster.here.troupe({"manifest", "check", "other.toml"});
  };
  const auto text = read_file(cluster.here / "cluster.toml");
  const auto refused = [&](const program_end& end, const std::string& part) {
    INFO(end.out, end.err, "should say: ", part);
    CHECK(end.exit_code == 2);
    CHECK(contains(end.err, part));
  };
  refused(check(text + node_section("server-9", "server")), "server-9.pem");
  refused(check(text + node_section("server-9", "server", "address = \"no.such.host.invalid\"\n")),
          "no.such.host.invalid");
  refused(check(text + node_section("server-9", "server", "address = \"192.0.2.7\"\n")),
          "cannot reach it at 127.0.0.1");
  refused(check(text + node_section("server-1", "server")), "two nodes are called 'server-1'");
  auto other = text;
  other.replace(other.find("\"test\""), 6, "\"blue\"");
  refused(check(other), "of the cluster 'test'");

  // A certificate that has expired, and a key that others may read.
  CHECK(cluster.here
            .troupe({"certs", "--manifest", "cluster.toml", "server-1", "--renew", "--days", "-1"})
            .exit_code == 0);
  refused(check(text), "server-1.pem: it has expired");
  CHECK(cluster.here.troupe({"certs", "--manifest", "cluster.toml", "server-1", "--renew"})
            .exit_code == 0);
  REQUIRE(::chmod((cluster.here / "certs/server-1.key").c_str(), 0644) == 0);
  refused(check(text), "chmod 600");
  check_refused(cluster.node("server-1")->wait(), {"server-1.key", "chmod 600"});
}

TEST_CASE("on a terminal a table is redrawn, and the summary stays") {
  const deployment cluster;
  const auto command =
      std::string(TROUPE_BINARY) + " up --manifest cluster.toml job.toml --set training.epochs=20";
  const auto end = [&] {
    auto place = cluster.place();
    place.environment["TERM"] = "xterm";
    return run_program({"/usr/bin/script", "-qec", command, "/dev/null"}, place);
  }();
  INFO(end.out, end.err);
  CHECK(end.exit_code == 0);
  CHECK(contains(end.out, "server-1         alive"));
  // What is wiped is above what is to be read.
  const auto wiped = end.out.rfind("\033[J");
  const auto summary = end.out.find("job: finished");
  REQUIRE(wiped != std::string::npos);
  REQUIRE(summary != std::string::npos);
  CHECK(wiped < summary);
  CHECK(contains(end.out.substr(summary), "digest"));
}
