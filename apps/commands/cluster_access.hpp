#pragma once
// A process that talks to a running cluster as an administrator.

#include <functional>
#include <memory>
#include <string>

#include "apps/console/node_table.hpp"
#include "apps/deploy/node_process.hpp"
#include "core/result.hpp"

namespace troupe {

class cluster_access {
 public:
  // `name`: "admin", whose certificate is used. Does not wait for a connection.
  static result<std::unique_ptr<cluster_access>> open(std::shared_ptr<live_manifest> manifest,
                                                      const std::string& name, bool whole_status);
  node_process& process() { return *process_; }

  // Waits until the scheduler has said where the job stands. Errors name its address.
  result<pb::JobStatus> status(duration within);
  // Sends a command and waits for what comes of it; a command that is refused is an error.
  result<std::string> command(const std::function<void(node_process&)>& send, duration within);

 private:
  std::string scheduler_;  // "scheduler at 10.0.0.1:7000"
  std::unique_ptr<node_process> process_;
};

console::name_of_node name_in(const config::Manifest& manifest);

}  // namespace troupe
