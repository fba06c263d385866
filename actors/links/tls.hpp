#pragma once
// TLS 1.3 with certificates on both sides, as a plain class: bytes in, bytes out, over OpenSSL's
// memory buffers. It knows neither sockets nor actors.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/links/certificate.hpp"
#include "actors/links/outgoing_bytes.hpp"
#include "core/file.hpp"
#include "core/result.hpp"
#include "core/span.hpp"

namespace troupe {

struct tls_files {
  std::string certificate, key, authority;  // paths
};

// A node's certificate, its key, and the authority that it trusts, ready for connections. Shared by
// all of a node's.
class tls_context {
 public:
  // Errors name the file: one that is missing, does not fit, or is a key that others may read.
  static result<std::shared_ptr<const tls_context>> open(file_system& files,
                                                         const tls_files& paths);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;
  const certificate_identity& identity() const { return identity_; }

 private:
  friend class tls_channel;
  struct openssl;
  explicit tls_context(std::unique_ptr<openssl> inner);
  std::unique_ptr<openssl> inner_;
  certificate_identity identity_;
};

// One connection's two ends of a pipe. After failure() is set nothing more comes or goes but what
// take_bytes() still has for the peer.
class tls_channel {
 public:
  tls_channel(std::shared_ptr<const tls_context> context, bool accepts);
  ~tls_channel();
  tls_channel(const tls_channel&) = delete;
  tls_channel& operator=(const tls_channel&) = delete;

  // From the socket.
  void received(span<const std::byte> bytes);
  // Plain bytes of the peer, as far as there are; 0: none now.
  std::size_t read(span<std::byte> into);
  // Plain bytes to the peer; only when established. Small ones wait for others, to share a record,
  // until take_bytes().
  void write(span<const std::byte> bytes);
  // For the socket, appended.
  void take_bytes(outgoing_bytes& to);

  bool established() const;
  // Whose certificate the peer has shown; known when established.
  const std::optional<certificate_identity>& peer() const { return peer_; }
  const std::string& failure() const { return failure_; }
  // The failure is one side's judgement of the other, and not a connection that broke off.
  bool judged() const { return judged_; }

 private:
  struct openssl;
  void shake_hands();
  void check(int outcome);
  void encrypt(span<const std::byte> bytes);
  std::shared_ptr<const tls_context> context_;
  std::unique_ptr<openssl> inner_;
  std::optional<certificate_identity> peer_;
  bool shaken_ = false, judged_ = false;
  std::vector<std::byte> plain_;  // less than a record
  std::string failure_;
};

}  // namespace troupe
