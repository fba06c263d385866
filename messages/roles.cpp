#include "messages/roles.hpp"

namespace troupe {

std::string to_string(role_id id) {
  switch (id.role) {
    case pb::SCHEDULER:
      return "scheduler";
    case pb::SERVER:
      return "server " + std::to_string(id.index);
    case pb::WORKER:
      return "worker " + std::to_string(id.index);
    default:
      return "node of unknown role";
  }
}

}  // namespace troupe
