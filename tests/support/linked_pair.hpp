#pragma once
// Two links and the wire between them, in one thread: what either gives is carried to the other, at
// once or not.

#include <filesystem>
#include <string>
#include <vector>

#include "actors/links/certificate.hpp"
#include "actors/links/link.hpp"
#include "tests/support/temporary_folder.hpp"

namespace troupe::testing {

inline pb::Hello hello_of(const std::string& name, pb::Role role, std::uint32_t index = 0) {
  pb::Hello h;
  h.set_protocol(1);
  h.set_cluster("test");
  h.set_name(name);
  h.set_role(role);
  h.set_index(index);
  return h;
}

inline admission anybody() {
  return [](const pb::Hello&, const std::optional<certificate_identity>&) {
    return std::optional<refusal>();
  };
}

struct linked_pair {
  instant now{1'000'000'000};
  link dials, accepts;
  token_bucket no_limit;
  std::size_t carried = 0;

  linked_pair(link_settings from, link_settings to)
      : dials(std::move(from), now), accepts(mirrored(std::move(to)), now) {}

  static link_settings mirrored(link_settings s) {
    s.accepts = true;
    return s;
  }

  static std::vector<std::byte> bytes_of(const outgoing_bytes& out) {
    std::vector<std::byte> all;
    out.each([&](span<const std::byte> p) { all.insert(all.end(), p.begin(), p.end()); });
    return all;
  }

  // What one has to say arrives at the other; false: nothing was said.
  bool carry(link& from, link& to) {
    outgoing_bytes out;
    from.take_bytes(out, no_limit, now);
    if (out.size() == 0) return false;
    const auto bytes = bytes_of(out);
    carried += bytes.size();
    from.sent(0, now);
    if (to.present_state() != link::state::closed) to.received(bytes, now);
    return true;
  }
  void settle() {
    bool more = true;
    while (more) {
      more = carry(dials, accepts);
      more = carry(accepts, dials) || more;
    }
  }
  void pass(duration time) {
    now = now + time;
    dials.on_time(now);
    accepts.on_time(now);
  }
};

inline link_settings settings_of(const std::string& name, pb::Role role) {
  link_settings s;
  s.self = hello_of(name, role);
  s.admit = anybody();
  return s;
}

inline blob bytes(std::size_t size, unsigned char first = 1) {
  auto [made, writable] = blob::uninitialised(size);
  for (std::size_t i = 0; i < size; ++i)
    writable[i] = static_cast<std::byte>(static_cast<unsigned char>(first + i * 7));
  return made;
}

// Certificates on disk, as TLS wants them.
struct certificate_folder {
  temporary_folder folder;
  std::shared_ptr<file_system> files = posix_file_system();

  void put(const std::string& name, const key_pair& pair) const {
    const auto base = folder.path() + "/" + name;
    std::filesystem::remove(base + ".key");
    (void)write_text_atomically(*files, base + ".pem", pair.certificate);
    (void)write_text_atomically(*files, base + ".key", pair.key);
    std::filesystem::permissions(
        base + ".key", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  tls_files paths(const std::string& name, const std::string& authority = "ca") const {
    const auto base = folder.path() + "/" + name;
    return {base + ".pem", base + ".key", folder.path() + "/" + authority + ".pem"};
  }
  std::shared_ptr<const tls_context> context(const std::string& name,
                                             const std::string& authority = "ca") const {
    auto opened = tls_context::open(*files, paths(name, authority));
    return opened ? *opened : nullptr;
  }
};

}  // namespace troupe::testing
