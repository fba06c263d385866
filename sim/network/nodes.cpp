#include "sim/network/nodes.hpp"

#include <charconv>

namespace troupe::sim {

result<node_pattern> node_pattern::parse(const std::string& text) {
  const auto failure =
      error{errc::bad_config, "'" + text +
                                  "' names no nodes: say '*', 'scheduler', 'server *', 'server 3', "
                                  "'worker *', 'worker 3' or 'zone NAME'"};
  node_pattern p;
  if (text == "*") return p;
  if (text == "scheduler") {
    p.role = pb::SCHEDULER;
    return p;
  }
  const auto space = text.find(' ');
  if (space == std::string::npos || space + 1 == text.size()) return failure;
  const auto kind = text.substr(0, space);
  const auto rest = text.substr(space + 1);
  if (kind == "zone") {
    p.zone = rest;
    return p;
  }
  if (kind != "server" && kind != "worker") return failure;
  p.role = kind == "server" ? pb::SERVER : pb::WORKER;
  if (rest == "*") return p;
  std::uint32_t index = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  if (fault != std::errc() || end != rest.data() + rest.size()) return failure;
  p.index = index;
  return p;
}

}  // namespace troupe::sim
