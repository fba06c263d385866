#pragma once
// Connecting and listening, away from whoever must not wait. Sockets are handed over as file
// descriptors that do not block; the taker closes them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"

namespace troupe {

struct host_port {
  std::string host;  // a name, an IPv4 or an IPv6 address
  std::uint16_t port = 0;
};
std::string to_string(const host_port& address);  // "host:7000", "[::1]:7000"

// Resolves and connects, each attempt with a deadline, a few attempts at a time.
class dialler {
 public:
  // Called on a thread of the dialler's, briefly: it must not dial.
  using on_connected = std::function<void(result<int>)>;
  virtual ~dialler() = default;  // nothing is called after it, and it does not wait
  virtual void dial(const host_port& to, duration within, on_connected done) = 0;
};
std::unique_ptr<dialler> socket_dialler();

struct listener {
  int socket = -1;
  std::uint16_t port = 0;  // that the system chose, if asked for 0
};
// An empty host: all addresses. Errors name address and reason.
result<listener> listen_at(const host_port& at);

// The addresses that a host has, as text; blocks.
result<std::vector<std::string>> resolve(const std::string& host);
bool is_loopback(const std::string& address);     // "127.3.2.1", "::1"
bool is_any_address(const std::string& address);  // "0.0.0.0", "::", ""
bool belongs_to_this_machine(const std::string& address);

// The most descriptors this process may have open; raised to what the system allows.
std::uint64_t raise_descriptor_limit();

}  // namespace troupe
