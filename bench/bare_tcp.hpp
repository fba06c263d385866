#pragma once
// A loopback connection and nothing else: what links are compared with.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bench/interleaved.hpp"
#include "core/dialling.hpp"

namespace troupe::bench {

enum class kind { push, pull };

// A process at the other end of a socket that reads a count and so many bytes, or writes them.
class bare_peer {
 public:
  bare_peer() {
    const auto l = *listen_at({"127.0.0.1", 0});
    child_ = ::fork();
    if (child_ == 0) serve(l.socket);
    ::close(l.socket);
    auto d = socket_dialler();
    std::mutex m;
    m.lock();
    d->dial({"127.0.0.1", l.port}, std::chrono::seconds(5), [&](result<int> s) {
      socket_ = *s;
      m.unlock();
    });
    m.lock();
    const int flags = ::fcntl(socket_, F_GETFL);
    ::fcntl(socket_, F_SETFL, flags & ~O_NONBLOCK);
  }
  ~bare_peer() {
    ::close(socket_);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  // Seconds for `times` transfers of `bytes`, pushed in pieces as they are with requests.
  double move(kind what, std::size_t bytes, std::size_t times) {
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    const auto begun = seconds_now();
    for (std::size_t i = 0; i < times; ++i) {
      const std::uint64_t order[2] = {what == kind::push ? 0u : 1u, bytes};
      put(socket_, order, sizeof order);
      if (what == kind::push)
        put(socket_, buffer_.data(), bytes);
      else
        get(socket_, buffer_.data(), bytes);
    }
    // All of it has arrived.
    const std::uint64_t order[2] = {1, 8};
    put(socket_, order, sizeof order);
    get(socket_, buffer_.data(), 8);
    return seconds_now() - begun;
  }

 private:
  static void put(int s, const void* data, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const auto n = ::send(s, static_cast<const char*>(data) + at, size - at, MSG_NOSIGNAL);
      if (n <= 0) ::_exit(0);
      at += static_cast<std::size_t>(n);
    }
  }
  static void get(int s, void* data, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const auto n = ::recv(s, static_cast<char*>(data) + at, size - at, 0);
      if (n <= 0) ::_exit(0);
      at += static_cast<std::size_t>(n);
    }
  }
  [[noreturn]] static void serve(int listening) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int flags = ::fcntl(listening, F_GETFL);
    ::fcntl(listening, F_SETFL, flags & ~O_NONBLOCK);
    const int s = ::accept(listening, nullptr, nullptr);
    std::vector<char> buffer(16 << 20);
    for (;;) {
      std::uint64_t order[2];
      get(s, order, sizeof order);
      if (order[0] == 0)
        get(s, buffer.data(), order[1]);
      else
        put(s, buffer.data(), order[1]);
    }
  }

  pid_t child_ = 0;
  int socket_ = -1;
  std::vector<char> buffer_ = std::vector<char>(16 << 20);
};

}  // namespace troupe::bench
