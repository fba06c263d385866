#pragma once
// The processes of a scenario's cluster: begun, struck, begun again, and gone at the end.

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "apps/chaos/process_network.hpp"
#include "apps/chaos/strike.hpp"
#include "apps/deploy/children.hpp"
#include "core/file.hpp"

namespace troupe::chaos {

// What a process holds.
struct holdings {
  std::uint64_t resident_bytes = 0;
  std::uint64_t descriptors = 0;
};

class process_cluster {
 public:
  process_cluster(const config::Scenario& scenario, std::string program, std::string folder);
  ~process_cluster();

  // Manifest, certificates, job file; network namespaces where `with_network`.
  result<void> prepare(bool with_network);
  result<void> begin(role_id node);
  std::string manifest() const { return folder_ + "/cluster.toml"; }
  std::string ledgers() const { return folder_ + "/ledgers"; }
  std::string shared() const { return folder_ + "/shared"; }
  process_network* network() { return network_.get(); }
  const cast& who() const { return who_; }

  bool runs(role_id node) const { return nodes_.runs(to_string(node)); }
  bool any_runs() const { return !nodes_.empty(); }
  void signal(role_id node, int number);
  // Dead, and stays so until begin().
  void kill(role_id node);
  void pause(role_id node, bool whether);
  result<void> limit_descriptors(role_id node, bool whether);
  result<void> fill_disk(bool whether);  // of what all share
  // A second process under the node's name.
  result<void> begin_second(role_id node);
  // Begins again what ended by itself. True if the scheduler has ended for good.
  bool tend();
  std::optional<holdings> holdings_of(role_id node) const;
  std::string said_by(role_id node) const;
  void end_all();

 private:
  std::string manifest_text() const;
  std::string job_text() const;
  std::vector<std::string> words_of(role_id node, bool first) const;
  std::string name(role_id node) const;
  role_id role_of(const std::string& child) const;

  const config::Scenario& scenario_;
  const std::string program_, folder_, run_;
  const cast who_;
  const std::shared_ptr<file_system> files_ = posix_file_system();
  children nodes_;
  std::unique_ptr<process_network> network_;
  std::uint16_t port_ = 7070;       // of the scheduler
  std::set<role_id> down_, begun_;  // killed on purpose; begun at least once
  bool mounted_ = false;
};

}  // namespace troupe::chaos
