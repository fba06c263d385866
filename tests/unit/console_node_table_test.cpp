// The nodes of a running cluster, as they are shown.
#include <doctest/doctest.h>

#include "apps/console/node_table.hpp"

namespace troupe::console {
namespace {

pb::JobStatus some_status() {
  pb::JobStatus s;
  s.set_job("mine");
  s.set_phase(pb::JobStatus::TRAINING);
  auto* server = s.add_nodes();
  server->set_role(pb::SERVER);
  server->set_state(pb::NodeStatus::ALIVE);
  server->set_silent_ns(250'000'000);
  server->set_shards(1);
  server->set_keys(1'234'567);
  server->add_waiting_for("the copy of shard 1");
  auto* worker = s.add_nodes();
  worker->set_role(pb::WORKER);
  worker->set_index(3);
  worker->set_state(pb::NodeStatus::DEAD);
  return s;
}

std::string name(role_id role) {
  return role.role == pb::SERVER ? "s0" : "";
}

}  // namespace

TEST_CASE("a line to each node, by its name in the manifest or its role") {
  CHECK(node_table(some_status(), name) ==
        "node             state      last beat leads     keys      waits for\n"
        "s0               alive      0.2 s     1 shard   1.2M      the copy of shard 1\n"
        "worker 3         dead       -         0 slots   -\n");
  CHECK(node_table({}, name).empty());
}

TEST_CASE("a table for a terminal has no line that wraps, and no more lines than fit") {
  const auto table = node_table(some_status(), name);
  CHECK(clipped_table(table, 20, 20) ==
        "node             sta\ns0               ali\nworker 3         dea\n");
  CHECK(clipped_table("a\nb\nc\nd\n", 10, 1) == "a\nb\nand 2 more; 'troupe status' shows all\n");
}

TEST_CASE("a cluster is told in JSON, whatever its texts hold") {
  auto status = some_status();
  status.set_text("a \"quoted\" word");
  const auto text = cluster_json(status, name).text();
  CHECK(text.find("\"name\": \"s0\"") != std::string::npos);
  CHECK(text.find("a \\\"quoted\\\" word") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
}

}  // namespace troupe::console
