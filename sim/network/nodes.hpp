#pragma once
// The nodes of a simulated cluster by number, and patterns that name some of them in a job file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "messages/roles.hpp"

namespace troupe::sim {

// The scheduler is node 0, then come the servers, then the workers.
using node_number = std::uint32_t;
constexpr node_number nowhere =
    UINT32_MAX;  // of actors that observe and are no part of the cluster

struct cast_of_nodes {
  std::uint32_t servers = 0, workers = 0;

  node_number size() const { return 1 + servers + workers; }
  role_id role(node_number n) const {
    if (n == 0) return the_scheduler;
    return n <= servers ? server_role(n - 1) : worker_role(n - 1 - servers);
  }
  node_number number(role_id id) const {  // nowhere if there is none
    switch (id.role) {
      case pb::SCHEDULER:
        return id.index == 0 ? 0 : nowhere;
      case pb::SERVER:
        return id.index < servers ? 1 + id.index : nowhere;
      case pb::WORKER:
        return id.index < workers ? 1 + servers + id.index : nowhere;
      default:
        return nowhere;
    }
  }
};

// "*", "scheduler", "server *", "server 3", "worker *", "worker 12", "zone rack-1".
struct node_pattern {
  pb::Role role = pb::ROLE_UNSPECIFIED;  // unspecified: any
  std::optional<std::uint32_t> index;
  std::string zone;  // empty: any

  // errc::bad_config, with what is allowed.
  static result<node_pattern> parse(const std::string& text);
  bool holds(role_id id, const std::string& its_zone) const {
    return (role == pb::ROLE_UNSPECIFIED || role == id.role) && (!index || *index == id.index) &&
           (zone.empty() || zone == its_zone);
  }
};

}  // namespace troupe::sim
