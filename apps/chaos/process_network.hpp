#pragma once
// Nodes on machines of their own, as far as one machine can be several: a network namespace to each
// node, all on one bridge, with what traffic control makes of the ways between. Needs root and
// iproute2; all of it is gone when this is.

#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "messages/roles.hpp"

namespace troupe::chaos {

class process_network {
 public:
  // `folder` takes what the programs say.
  process_network(std::string folder, std::vector<role_id> nodes);
  ~process_network();
  process_network(const process_network&) = delete;
  process_network& operator=(const process_network&) = delete;

  // Errors say what is missing: root, iproute2, or something of the kernel.
  result<void> make();
  std::string address(role_id node) const;
  // The words that run a program inside a node's namespace.
  std::vector<std::string> inside(role_id node, std::vector<std::string> words) const;

  // What `from` sends to `to` vanishes; nobody is told.
  result<void> cut(role_id from, role_id to);
  result<void> heal(role_id from, role_id to);
  // Traffic control on all that the node sends: words of tc, as {"netem", "delay", "20ms"}.
  result<void> shape(role_id node, const std::vector<std::string>& discipline);
  result<void> unshape(role_id node);

 private:
  result<void> run(std::vector<std::string> words);
  result<void> in(role_id node, std::vector<std::string> words);
  std::string name(role_id node) const;

  const std::string folder_, tag_;
  const std::vector<role_id> nodes_;
  bool made_ = false;
};

}  // namespace troupe::chaos
