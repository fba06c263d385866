// Nodes on machines of their own, as far as one machine can be several: network namespaces that the
// test makes and removes. They need root and iproute2; elsewhere the test is skipped, visibly.
#include "tests/support/deployment.hpp"

using namespace troupe::testing;

namespace {

program_end run(const words& command) {
  return run_program(command, {});
}

// Three namespaces on one bridge in a fourth: boss (10.99.0.1), one (10.99.0.2), two (10.99.0.3).
class small_network {
 public:
  small_network() : tag_("tr" + std::to_string(::getpid()) + "-") {
    works_ = ip({"netns", "add", name("net")});
    for (const auto* host : {"boss", "one", "two"})
      works_ = works_ && ip({"netns", "add", name(host)});
    works_ = works_ && in("net", {"link", "add", "br0", "type", "bridge"}) &&
             in("net", {"link", "set", "br0", "up"});
    int number = 0;
    for (const auto* host : {"boss", "one", "two"}) {
      const auto port = "port" + std::to_string(++number);
      works_ =
          works_ &&
          in("net",
             {"link", "add", port, "type", "veth", "peer", "name", "eth", "netns", name(host)}) &&
          in("net", {"link", "set", port, "master", "br0"}) &&
          in("net", {"link", "set", port, "up"}) &&
          in(host, {"addr", "add", "10.99.0." + std::to_string(number) + "/24", "dev", "eth"}) &&
          in(host, {"link", "set", "eth", "up"}) && in(host, {"link", "set", "lo", "up"});
    }
  }
  ~small_network() {
    for (const auto* host : {"boss", "one", "two", "net"}) ip({"netns", "del", name(host)});
  }
  bool works() const { return works_; }
  words inside(const std::string& host, const words& command) const {
    return words{"/usr/sbin/ip", "netns", "exec", name(host)} + command;
  }
  // The bridge no longer carries what that host sends; nobody is told.
  bool cut(const std::string& host, bool whether) const {
    const std::string port = host == "boss" ? "port1" : host == "one" ? "port2" : "port3";
    return whether ? in("net", {"link", "set", port, "nomaster"})
                   : in("net", {"link", "set", port, "master", "br0"});
  }

 private:
  std::string name(const std::string& host) const { return tag_ + host; }
  static bool ip(const words& arguments) {
    return run(words{"/usr/sbin/ip"} + arguments).exit_code == 0;
  }
  bool in(const std::string& host, const words& arguments) const {
    return ip(words{"-n", name(host)} + arguments);
  }
  const std::string tag_;
  bool works_ = false;
};

// Asked before there is a test, so without the means of one.
bool can_make_networks() {
  if (::geteuid() != 0) return false;
  const auto name = "tr-probe-" + std::to_string(::getpid());
  const auto tries = "/usr/sbin/ip netns add " + name + " && /usr/sbin/ip -n " + name +
                     " link add probe0 type bridge && /usr/sbin/ip -n " + name +
                     " link add probe1 type veth peer name probe2";
  const bool can = std::system(("(" + tries + ") >/dev/null 2>&1").c_str()) == 0;
  (void)!std::system(("/usr/sbin/ip netns del " + name + " >/dev/null 2>&1").c_str());
  return can;
}

std::string manifest() {
  const std::string head =
      "[cluster]\nid = \"test\"\n[links]\nsilence = \"1500 ms\"\nbeat_every = \"100 ms\"\n"
      "connect_timeout = \"500 ms\"\n[operations]\npatience = \"20 s\"\n";
  return head + node_section("scheduler", "scheduler", "address = \"10.99.0.1\"\nport = 7070\n") +
         node_section("server-0", "server", "address = \"10.99.0.2\"\n") +
         node_section("server-1", "server", "address = \"10.99.0.3\"\n") +
         node_section("worker-0", "worker", "address = \"10.99.0.2\"\n") +
         node_section("worker-1", "worker", "address = \"10.99.0.1\"\n");
}

}  // namespace

TEST_CASE("a machine is cut off and comes back; another is cut off for good" *
          doctest::skip(!can_make_networks())) {
  const small_network network;
  REQUIRE(network.works());
  const deployment cluster;
  cluster.here.write("cluster.toml", manifest());
  REQUIRE(cluster.admin("certs", {"--renew"}).exit_code == 0);
  const auto job = set("training.epochs=120");
  const auto digest = cluster.digest_of_sim(job);
  std::map<std::string, std::unique_ptr<running_program>> nodes;
  const auto start = [&](const std::string& host, const std::string& name, const words& more = {}) {
    nodes[name] = std::make_unique<running_program>(
        network.inside(
            host,
            words{TROUPE_BINARY, "node", "--manifest", "cluster.toml", "--name", name} + more),
        cluster.place());
  };
  start("boss", "scheduler",
        words{"job.toml", "--json", "result.json"} + deployment::quick_verdicts() + job);
  start("one", "server-0");
  start("two", "server-1");
  start("one", "worker-0");
  start("boss", "worker-1");
  const auto wait_until = [&](const std::string& what, const auto& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      program_place place;
      place.folder = cluster.here.path();
      const auto said = run_program(
          network.inside("boss", {TROUPE_BINARY, "status", "--manifest", "cluster.toml", "--json"}),
          place);
      if (said.exit_code == 0 && is_so(result_page(said.out))) return;
    }
    INFO("waited for: ", what);
    REQUIRE(false);
  };
  const auto state_of = [](const result_page& s, const std::string& name) {
    for (const auto& n : s.value("nodes").list_value().values())
      if (n.struct_value().fields().at("name").string_value() == name)
        return n.struct_value().fields().at("state").string_value();
    return std::string();
  };
  wait_until("training", [](const result_page& s) { return s.number("clocks_done") > 60; });

  REQUIRE(network.cut("two", true));  // half-open: nobody is told that server-1 is gone
  wait_until("server-1 is dead",
             [&](const result_page& s) { return state_of(s, "server-1") == "dead"; });
  REQUIRE(network.cut("two", false));
  wait_until("server-1 is back",
             [&](const result_page& s) { return state_of(s, "server-1") == "alive"; });
  wait_until("every shard has a copy again", [](const result_page& s) {
    for (const auto& shard : s.value("shards").list_value().values())
      if (shard.struct_value().fields().at("chain").list_value().values_size() < 2) return false;
    return true;
  });
  // Not healed: the job goes on without it, and the node itself gives up in the end.
  REQUIRE(network.cut("two", true));
  const auto& end = nodes["scheduler"]->wait();
  INFO(end.out, end.err, cluster.log_of("scheduler"));
  REQUIRE(end.exit_code == 0);
  CHECK(cluster.result().word("model_digest") == digest);
  CHECK(nodes["server-1"]->wait().exit_code == 1);
  CHECK(contains(nodes["server-1"]->wait().err, "the scheduler was not heard of"));
  for (const auto* name : {"server-0", "worker-0", "worker-1"}) {
    INFO(name, ": ", nodes[name]->wait().err);
    CHECK(nodes[name]->wait().exit_code == 0);
  }
}
