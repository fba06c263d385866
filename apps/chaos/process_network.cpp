#include "apps/chaos/process_network.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "apps/sweep/child_program.hpp"
#include "core/file.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

constexpr const char* ip_program = "/usr/sbin/ip";
constexpr const char* tc_program = "/usr/sbin/tc";

// Of private addresses (RFC 1918), a network of this process's own.
std::string network() {
  return format("10.%d.%d.", 64 + static_cast<int>(::getpid() / 256 % 128),
                static_cast<int>(::getpid() % 256));
}

}  // namespace

process_network::process_network(std::string folder, std::vector<role_id> nodes)
    : folder_(std::move(folder)),
      tag_(format("trc%d", static_cast<int>(::getpid()))),
      nodes_(std::move(nodes)) {}

process_network::~process_network() {
  if (!made_) return;
  for (const auto node : nodes_) (void)run({ip_program, "netns", "del", name(node)}).ok();
  (void)run({ip_program, "link", "del", tag_}).ok();
}

std::string process_network::name(role_id node) const {
  const auto place = std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin();
  return tag_ + "-" + std::to_string(place);
}

std::string process_network::address(role_id node) const {
  const auto place = std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin();
  return network() + std::to_string(place + 2);
}

result<void> process_network::run(std::vector<std::string> words) {
  const auto said = folder_ + "/network";
  auto child = child_program::start(words, said);
  if (!child) return child.failure();
  for (int i = 0; i < 1000 && !child->ended(); ++i) ::usleep(2000);
  if (child->ended() && child->exit_code() == 0) return {};
  std::string command;
  for (const auto& w : words) command += (command.empty() ? "" : " ") + w;
  const auto text = read_text(*posix_file_system(), said, 1 << 16);
  auto why = text ? *text : std::string();
  why = why.substr(0, why.find('\n'));
  return error{errc::io, "'" + command + "' failed" + (why.empty() ? "" : ": " + why)};
}

result<void> process_network::in(role_id node, std::vector<std::string> words) {
  words.insert(words.begin(), {ip_program, "-n", name(node)});
  return run(std::move(words));
}

result<void> process_network::make() {
  if (::geteuid() != 0)
    return error{errc::bad_usage,
                 "network faults on processes need root: each node gets a network "
                 "namespace of its own"};
  if (!posix_file_system()->exists(ip_program))
    return error{errc::bad_usage, "network faults on processes need iproute2"};
  made_ = true;
  result<void> done = run({ip_program, "link", "add", tag_, "type", "bridge"});
  const auto then = [&](result<void> next) {
    if (done) done = std::move(next);
  };
  if (!done) return done;
  then(run({ip_program, "addr", "add", network() + "1/24", "dev", tag_}));
  then(run({ip_program, "link", "set", tag_, "up"}));
  for (std::size_t i = 0; done && i < nodes_.size(); ++i) {
    const auto ours = tag_ + "v" + std::to_string(i);
    then(run({ip_program, "netns", "add", name(nodes_[i])}));
    then(run({ip_program, "link", "add", ours, "type", "veth", "peer", "name", "eth", "netns",
              name(nodes_[i])}));
    then(run({ip_program, "link", "set", ours, "master", tag_}));
    then(run({ip_program, "link", "set", ours, "up"}));
    then(in(nodes_[i], {"addr", "add", address(nodes_[i]) + "/24", "dev", "eth"}));
    then(in(nodes_[i], {"link", "set", "eth", "up"}));
    then(in(nodes_[i], {"link", "set", "lo", "up"}));
  }
  return done;
}

std::vector<std::string> process_network::inside(role_id node,
                                                 std::vector<std::string> words) const {
  words.insert(words.begin(), {ip_program, "netns", "exec", name(node)});
  return words;
}

result<void> process_network::cut(role_id from, role_id to) {
  return in(from, {"route", "add", "blackhole", address(to) + "/32"});
}

result<void> process_network::heal(role_id from, role_id to) {
  return in(from, {"route", "del", "blackhole", address(to) + "/32"});
}

result<void> process_network::shape(role_id node, const std::vector<std::string>& discipline) {
  std::vector<std::string> words{tc_program, "-n",  name(node), "qdisc",
                                 "replace",  "dev", "eth",      "root"};
  words.insert(words.end(), discipline.begin(), discipline.end());
  auto done = run(std::move(words));
  if (!done && discipline.front() == "netem")
    return error{errc::bad_usage, done.failure().text +
                                      " (latency and loss on processes need the "
                                      "kernel's sch_netem)"};
  return done;
}

result<void> process_network::unshape(role_id node) {
  return run({tc_program, "-n", name(node), "qdisc", "del", "dev", "eth", "root"});
}

}  // namespace troupe::chaos
