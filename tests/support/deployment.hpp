#pragma once
// A cluster of real processes on loopback, as its user starts it, in a folder of its own.
//
//   deployment cluster;                       // scheduler, server-0, server-1, worker-0, worker-1
//   auto run = cluster.up({"--set", "training.epochs=20"});
//   cluster.wait_until(*run, "training", [](const result_page& status) { ... });
//   cluster.signal("server-1", SIGKILL);
//   CHECK(run->wait().exit_code == 0);        // returns when all processes of the cluster are gone
//
// Waiting is asking the cluster itself, `troupe status`, which waits by itself for an answer.

#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>

#include "tests/e2e/workplace.hpp"

namespace troupe::testing {

// A port that nobody has now; the system gives it to nobody else for a while.
inline std::uint16_t free_port() {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  socklen_t size = sizeof at;
  REQUIRE(getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  close(s);
  return ntohs(at.sin_port);
}

inline std::string node_section(const std::string& name, const std::string& role,
                                const std::string& more = "") {
  return "[[nodes]]\nname = \"" + name + "\"\nrole = \"" + role + "\"\n" + more;
}

class deployment {
 public:
  struct shape {
    std::uint32_t servers = 2, workers = 2, spares = 0;
    std::string head;   // before the nodes
    std::string links;  // of [links]
  };

  deployment() : deployment(shape()) {}
  explicit deployment(const shape& s) : port(free_port()) {
    here.write("cluster.toml", manifest_of(s, port));
    // Beats often enough that a test need not wait long for a verdict.
    here.amend(
        "[debug]\nslow = [{slot = 0, delay = \"4 ms\"}]\n[output]\nprogress_every = \"100 ms\"\n");
    const auto made = here.troupe({"certs", "--manifest", "cluster.toml"});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
  }

  static std::string manifest_of(const shape& s, std::uint16_t port) {
    auto text = s.head.empty() ? "[cluster]\nid = \"test\"\n" : s.head;
    text += "[links]\nsilence = \"1500 ms\"\nbeat_every = \"100 ms\"\n" + s.links;
    text += node_section("scheduler", "scheduler", "port = " + std::to_string(port) + "\n");
    for (std::uint32_t i = 0; i < s.servers; ++i)
      text += node_section("server-" + std::to_string(i), "server");
    for (std::uint32_t i = 0; i < s.workers; ++i)
      text += node_section("worker-" + std::to_string(i), "worker");
    for (std::uint32_t i = 0; i < s.spares; ++i)
      text += node_section("server-" + std::to_string(s.servers + i), "server", "spare = true\n");
    return text;
  }

  program_place place(int seconds = 120) const {
    program_place p;
    p.folder = here.path();
    p.deadline = std::chrono::seconds(seconds);
    return p;
  }
  static words quick_verdicts() {
    return set("cluster.beat_every=50 ms") + set("cluster.suspect_after=300 ms") +
           set("cluster.death_after=700 ms") + set("cluster.lease=200 ms");
  }
  std::unique_ptr<running_program> up(const words& more = {}) const {
    return std::make_unique<running_program>(
        words{TROUPE_BINARY, "up", "--manifest", "cluster.toml", "job.toml", "--json",
              "result.json"} +
            quick_verdicts() + more,
        place());
  }
  std::unique_ptr<running_program> node(const std::string& name, const words& more = {},
                                        const std::string& manifest = "cluster.toml") const {
    return std::make_unique<running_program>(
        words{TROUPE_BINARY, "node", "--manifest", manifest, "--name", name} + more, place());
  }
  program_end admin(const std::string& command, const words& more = {}) const {
    return here.troupe(words{command, "--manifest", "cluster.toml"} + more);
  }

  // What the cluster says of itself; nothing if it does not answer within `seconds`.
  std::optional<result_page> status(const std::string& seconds = "5") const {
    const auto said = admin("status", {"--json", "--wait", seconds});
    if (said.exit_code != 0) return std::nullopt;
    return result_page(said.out);
  }
  // Asks until it is so; the test fails if it is not within the patience of a test.
  void wait_until(const std::string& what,
                  const std::function<bool(const result_page&)>& is_so) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline)
      if (const auto now = status(); now && is_so(*now)) return;
    INFO("waited for: ", what);
    REQUIRE(false);
  }
  void wait_until_clocks(double many) const {
    wait_until(std::to_string(many) + " clocks", [many](const result_page& s) {
      return s.word("phase") == "training" && s.number("clocks_done") >= many;
    });
  }
  void wait_until_node(const std::string& name, const std::string& state) const {
    wait_until(name + " is " + state, [&](const result_page& s) {
      for (const auto& n : s.value("nodes").list_value().values()) {
        const auto& fields = n.struct_value().fields();
        if (fields.at("name").string_value() == name)
          return fields.at("state").string_value() == state;
      }
      return false;
    });
  }

  pid_t pid_of(const std::string& name) const {
    const auto path = here / ("state/" + name + "/pid");
    if (!posix_file_system()->exists(path)) return 0;
    return static_cast<pid_t>(std::strtol(read_file(path).c_str(), nullptr, 10));
  }
  void signal(const std::string& name, int number) const {
    const auto pid = pid_of(name);
    INFO(name);
    REQUIRE(pid > 0);
    REQUIRE(::kill(pid, number) == 0);
  }
  std::string log_of(const std::string& name) const {
    const auto path = here / ("state/" + name + "/log");
    return posix_file_system()->exists(path) ? read_file(path) : std::string();
  }

  result_page result() const { return result_page(read_file(here / "result.json")); }
  // Of the same job in one process.
  std::string digest_of_sim(const words& more = {}) const {
    return here.train(more + set("model.output=\"\"") + set("debug.slow=[]")).digest();
  }

  const workplace here;
  const std::uint16_t port;
};

// The run has ended well, with this model, and left nobody behind.
inline void check_finished(const deployment& cluster, running_program& run,
                           const std::string& digest) {
  const auto& end = run.wait();
  INFO(end.out, end.err, cluster.log_of("scheduler"));
  REQUIRE_FALSE(end.timed_out);
  REQUIRE(end.exit_code == 0);
  CHECK(cluster.result().word("model_digest") == digest);
}

}  // namespace troupe::testing
