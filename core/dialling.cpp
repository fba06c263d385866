#include "core/dialling.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {
namespace {

struct addresses {
  addrinfo* first = nullptr;
  addresses() = default;
  addresses(addresses&& other) noexcept : first(std::exchange(other.first, nullptr)) {}
  ~addresses() {
    if (first != nullptr) freeaddrinfo(first);
  }
};

result<addresses> look_up(const host_port& at, bool to_listen) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addresses found;
  const auto port = std::to_string(at.port);
  const auto failed =
      getaddrinfo(at.host.empty() ? nullptr : at.host.c_str(), port.c_str(), &hints, &found.first);
  if (failed != 0)
    return error{errc::io, "the host '" + at.host + "' is not known: " + gai_strerror(failed)};
  return found;
}

std::string number_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  else if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  return text;
}

void set_option(int socket, int level, int option, int value) {
  (void)setsockopt(socket, level, option, &value, sizeof value);
}

// A connection whose two ends are one: nobody listens, and the system chose the same port.
bool is_with_itself(int s) {
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here, other = sizeof there;
  return getsockname(s, reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
         getpeername(s, reinterpret_cast<sockaddr*>(&there), &other) == 0 && size == other &&
         std::memcmp(&here, &there, size) == 0;
}

// `ends`: a descriptor that can be read when nobody waits any more.
result<int> connect_one(const addrinfo& to, duration within, int ends) {
  const int s = socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
  if (s < 0) return error{errc::io, std::strerror(errno)};
  const auto fail = [s](int why) -> result<int> {
    close(s);
    return error{errc::io, std::strerror(why)};
  };
  set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
  if (connect(s, to.ai_addr, to.ai_addrlen) == 0) return s;
  if (errno != EINPROGRESS) return fail(errno);
  pollfd waiting[2] = {{s, POLLOUT, 0}, {ends, POLLIN, 0}};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(within).count();
  int ready = 0;
  do ready = poll(waiting, 2, static_cast<int>(ms));
  while (ready < 0 && errno == EINTR);
  if (waiting[1].revents != 0) return fail(ECANCELED);
  if (ready == 0) return fail(ETIMEDOUT);
  int why = 0;
  socklen_t size = sizeof why;
  if (getsockopt(s, SOL_SOCKET, SO_ERROR, &why, &size) != 0 || why != 0) return fail(why);
  if (is_with_itself(s)) return fail(ECONNREFUSED);
  return s;
}

result<int> connect_to(const host_port& to, duration within, int ends) {
  const auto found = look_up(to, false);
  if (!found) return found.failure();
  error last{errc::io, "it has no address"};
  for (const auto* a = found->first; a != nullptr; a = a->ai_next) {
    auto connected = connect_one(*a, within, ends);
    if (connected) return connected;
    last = connected.failure();
  }
  return last;
}

// The threads own what they share with the dialler: a name server that does not answer keeps one of
// them, and nobody else.
struct dialling {
  static constexpr std::size_t most = 8;
  struct attempt {
    std::uint64_t number = 0;
    host_port to;
    duration within{};
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<attempt> waiting;
  // Of attempts that have not ended. Called and destroyed while the dialler lives, and not after.
  std::map<std::uint64_t, dialler::on_connected> done;
  std::uint64_t next = 1;
  std::size_t threads = 0, idle = 0;
  bool ends = false;
  int end_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  ~dialling() { close(end_event); }
};

void work(const std::shared_ptr<dialling>& d) {
  std::unique_lock guard(d->mutex);
  for (;;) {
    ++d->idle;
    d->changed.wait(guard, [&] { return d->ends || !d->waiting.empty(); });
    --d->idle;
    if (d->ends) return;
    const auto next = d->waiting.front();
    d->waiting.pop_front();
    guard.unlock();
    const auto outcome = connect_to(next.to, next.within, d->end_event);
    guard.lock();
    if (d->ends) {
      if (outcome) close(*outcome);
      return;
    }
    // Under the lock: the dialler does not end meanwhile.
    auto done = d->done.extract(next.number);
    done.mapped()(outcome);
  }
}

class threads_that_dial final : public dialler {
 public:
  ~threads_that_dial() override {
    {
      std::lock_guard guard(d_->mutex);
      d_->ends = true;
      d_->waiting.clear();
      d_->done.clear();
    }
    const std::uint64_t one = 1;
    (void)!write(d_->end_event, &one, sizeof one);
    d_->changed.notify_all();
  }

  void dial(const host_port& to, duration within, on_connected done) override {
    std::lock_guard guard(d_->mutex);
    d_->waiting.push_back({d_->next, to, within});
    d_->done.emplace(d_->next++, std::move(done));
    if (d_->waiting.size() > d_->idle && d_->threads < dialling::most) {
      ++d_->threads;
      std::thread([d = d_] { work(d); }).detach();
    }
    d_->changed.notify_one();
  }

 private:
  const std::shared_ptr<dialling> d_ = std::make_shared<dialling>();
};

}  // namespace

std::string to_string(const host_port& address) {
  const bool six = address.host.find(':') != std::string::npos;
  return (six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::unique_ptr<dialler> socket_dialler() {
  return std::make_unique<threads_that_dial>();
}

result<listener> listen_at(const host_port& at) {
  const auto found = look_up(at, true);
  if (!found) return found.failure();
  const auto* a = found->first;
  const int s = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
  const auto fail = [&](int why) -> result<listener> {
    if (s >= 0) close(s);
    return error{errc::io, to_string(at) + ": " + std::strerror(why)};
  };
  if (s < 0) return fail(errno);
  set_option(s, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(s, a->ai_addr, a->ai_addrlen) != 0 || listen(s, 256) != 0) return fail(errno);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(s, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return fail(errno);
  const auto port = bound.ss_family == AF_INET6
                        ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                        : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return listener{s, ntohs(port)};
}

result<std::vector<std::string>> resolve(const std::string& host) {
  const auto found = look_up({host, 0}, false);
  if (!found) return found.failure();
  std::vector<std::string> all;
  for (const auto* a = found->first; a != nullptr; a = a->ai_next)
    all.push_back(number_of(a->ai_addr));
  return all;
}

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1";
}

bool is_any_address(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

bool belongs_to_this_machine(const std::string& address) {
  if (is_loopback(address)) return true;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  bool ours = false;
  for (const auto* i = all; i != nullptr; i = i->ifa_next)
    ours = ours || (i->ifa_addr != nullptr && number_of(i->ifa_addr) == address);
  freeifaddrs(all);
  return ours;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace troupe
