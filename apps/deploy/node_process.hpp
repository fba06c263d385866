#pragma once
// A process that belongs to a cluster: its actor system, its links, and, of a node, the actor of
// its role under its supervisor. Admins and clients are such processes without an actor.

#include <memory>
#include <optional>
#include <string>

#include "apps/deploy/membership.hpp"
#include "apps/local/cluster_settings.hpp"

namespace troupe {

struct node_settings {
  std::shared_ptr<live_manifest> manifest;
  membership who;
  std::shared_ptr<const tls_context> tls;
  std::shared_ptr<file_system> files;
  std::optional<listener> listening;  // of a scheduler or a server
  std::size_t threads = 0;            // that run actors; 0: two
  bool wants_job = false;             // asks the scheduler what is to be learned
  bool whole_status = false;          // with view, nodes and slots; else what concerns this node
  std::shared_ptr<background> io;     // null: a thread of its own
  duration ask_every = std::chrono::milliseconds(200);
};

class node_process {
 public:
  explicit node_process(node_settings settings);
  ~node_process();  // everything ends; what is under way is lost
  node_process(const node_process&) = delete;
  node_process& operator=(const node_process&) = delete;

  // Begins the node's actor.
  void start(const cluster_settings& settings);

  // What has come since the last look. Never waits longer than `at_most`.
  struct look {
    std::optional<pb::JobStatus> status;      // the latest, if one came
    std::optional<pb::JobText> job;           // once
    std::optional<pb::CommandReply> command;  // of what was commanded last
    std::optional<std::string> given_up;      // the actor died too often
    // Why a peer will have nothing to do with this process; final: whatever is tried again.
    std::optional<std::string> refused;
    bool refused_for_good = false;
    duration silence{};  // since the scheduler was heard of last
  };
  look wait(duration at_most);

  void drain(role_id node);
  void rebalance();
  void take_checkpoint();
  void stop_job(const std::string& reason);
  // Of a worker: its slots end after the clocks that they are in.
  void end_slots();

  std::uint32_t admins() const;  // that are connected
  caf::actor_system& system();
  std::shared_ptr<const resolver> find() const;

 private:
  struct inside;
  std::unique_ptr<inside> in_;
};

}  // namespace troupe
