#pragma once
// Roles stand in messages and settings where another system would put a handle or an address.

#include <cstdint>
#include <string>
#include <tuple>

#include "messages/control.pb.h"

namespace troupe {

struct role_id {
  pb::Role role = pb::ROLE_UNSPECIFIED;
  std::uint32_t index = 0;

  friend bool operator<(const role_id& a, const role_id& b) {
    return std::tie(a.role, a.index) < std::tie(b.role, b.index);
  }
  friend bool operator==(const role_id& a, const role_id& b) {
    return a.role == b.role && a.index == b.index;
  }
};

constexpr role_id the_scheduler{pb::SCHEDULER, 0};
inline role_id server_role(std::uint32_t index) {
  return {pb::SERVER, index};
}
inline role_id worker_role(std::uint32_t index) {
  return {pb::WORKER, index};
}

// "scheduler", "server 3", "worker 0".
std::string to_string(role_id id);

}  // namespace troupe
