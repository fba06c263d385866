#include "apps/deploy/membership.hpp"

#include <algorithm>
#include <chrono>

#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

link_limits limits_of(const config::Links& links) {
  link_limits l;
  l.message = static_cast<std::uint64_t>(links.message_limit());
  l.window = static_cast<std::uint64_t>(links.window());
  l.queue = static_cast<std::uint64_t>(links.queue());
  l.chunk = static_cast<std::uint32_t>(links.chunk());
  l.handshake = duration(links.handshake_timeout());
  l.beat_every = duration(links.beat_every());
  l.silence = duration(links.silence());
  return l;
}

// Of two nodes one dials; see actors/links/links_actor.hpp.
bool dials(const membership& who, const role_id& other) {
  if (other.role == pb::SCHEDULER) return who.role.role != pb::SCHEDULER;
  if (other.role != pb::SERVER) return false;
  if (who.role.role == pb::SERVER) return other.index < who.role.index;
  return who.role.role == pb::WORKER;
}

admission admission_of(std::shared_ptr<live_manifest> manifest, const std::string& cluster,
                       bool insecure) {
  return [manifest, cluster, insecure](
             const pb::Hello& said,
             const std::optional<certificate_identity>& shown) -> std::optional<refusal> {
    const auto who = said.name().substr(0, 100);
    const auto role = word_of_role(said.role());
    if (!insecure) {
      if (!shown) return refusal{"it has shown no certificate"};
      if (shown->cluster != cluster)
        return refusal{"its certificate is of the cluster '" + shown->cluster + "', this is '" +
                       cluster + "'"};
      if (shown->name != who || shown->role != role)
        return refusal{"it says that it is the " + role + " '" + who +
                       "', and its certificate that it is the " + shown->role + " '" + shown->name +
                       "'"};
    }
    if (said.cluster() != cluster)
      return refusal{"it belongs to the cluster '" + said.cluster().substr(0, 100) +
                     "', this is '" + cluster + "'"};
    if (said.protocol() != protocol_version)
      return refusal{format("%s speaks protocol %u, this node %u", who.c_str(), said.protocol(),
                            protocol_version)};
    if (said.build() != build_version())
      return refusal{who + " is build " + said.build().substr(0, 50) + ", this node " +
                     build_version()};
    if (said.role() == pb::ADMIN) return std::nullopt;
    if (!manifest->knows(who, said.role(), said.index(), seconds_now()))
      return refusal{format("the manifest has no %s '%s' of number %u", role.c_str(), who.c_str(),
                            said.index())};
    return std::nullopt;
  };
}

}  // namespace

pb::Role role_of_word(const std::string& word) {
  if (word == "scheduler") return pb::SCHEDULER;
  if (word == "server") return pb::SERVER;
  if (word == "worker") return pb::WORKER;
  if (word == "admin") return pb::ADMIN;
  return pb::ROLE_UNSPECIFIED;
}

std::string word_of_role(pb::Role role) {
  for (const char* word : {"scheduler", "server", "worker", "admin"})
    if (role_of_word(word) == role) return word;
  return "nobody";
}

result<std::shared_ptr<live_manifest>> live_manifest::load(std::shared_ptr<file_system> files,
                                                           const std::string& path) {
  auto read = config::load_manifest(*files, path);
  if (!read) return read.failure();
  return std::make_shared<live_manifest>(std::move(files), path, *std::move(read));
}

config::Manifest live_manifest::present() const {
  std::lock_guard guard(mutex_);
  return manifest_;
}

bool live_manifest::has(const std::string& name, pb::Role role, std::uint32_t index) const {
  const auto* n = config::find_node(manifest_, name);
  return n != nullptr && role_of_word(n->role()) == role &&
         config::index_of(manifest_, *n) == index;
}

bool live_manifest::knows(const std::string& name, pb::Role role, std::uint32_t index, double now) {
  std::lock_guard guard(mutex_);
  if (has(name, role, index)) return true;
  if (read_at_ >= 0 && now - read_at_ < 1) return false;
  read_at_ = now;
  if (auto read = config::load_manifest(*files_, path_)) manifest_ = *std::move(read);
  return has(name, role, index);
}

result<membership> member_of(const config::Manifest& manifest, const std::string& name) {
  if (name == "admin") return membership{name, {pb::ADMIN, 0}, 1};
  const auto* n = config::find_node(manifest, name);
  if (n != nullptr)
    return membership{name, {role_of_word(n->role()), config::index_of(manifest, *n)}, 0};
  std::vector<std::string> names;
  for (const auto& one : manifest.nodes()) names.push_back(one.name());
  const auto near = nearest(name, names);
  return error{errc::bad_config, "the manifest has no node '" + name + "'" +
                                     (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

result<std::shared_ptr<const tls_context>> open_security(file_system& files,
                                                         const config::Manifest& manifest,
                                                         const membership& who) {
  if (manifest.cluster().insecure()) {
    for (const auto& n : manifest.nodes())
      for (const auto& host : {n.address(), config::bind_address(n)}) {
        const auto known = resolve(host);
        if (!known) return known.failure();
        if (!std::all_of(known->begin(), known->end(), is_loopback))
          return error{errc::bad_config,
                       "cluster.insecure: " + n.name() + " is at " + host +
                           ", and without certificates a cluster stays on loopback"};
      }
    return std::shared_ptr<const tls_context>();
  }
  const auto paths = config::files_of(manifest.tls(), who.name);
  auto context = tls_context::open(files, {paths.certificate, paths.key, paths.authority});
  if (!context) {
    auto why = context.failure();
    why.text += "; 'troupe certs --manifest FILE' makes what is missing";
    return why;
  }
  const auto& shown = (*context)->identity();
  if (shown.name != who.name || shown.role != word_of_role(who.role.role) ||
      shown.cluster != manifest.cluster().id())
    return error{errc::bad_config, paths.certificate + ": it is the certificate of the " +
                                       shown.role + " '" + shown.name + "' of the cluster '" +
                                       shown.cluster + "'"};
  return context;
}

links_setup links_of(std::shared_ptr<live_manifest> live, const membership& who,
                     std::shared_ptr<const tls_context> tls) {
  const auto manifest = live->present();
  const auto& links = manifest.links();
  links_setup s;
  s.self.set_protocol(protocol_version);
  s.self.set_build(build_version());
  s.self.set_cluster(manifest.cluster().id());
  s.self.set_name(who.name);
  s.self.set_role(who.role.role);
  s.self.set_index(who.role.index);
  s.self.set_incarnation(who.incarnation);
  s.limits = limits_of(links);
  s.admit = admission_of(live, manifest.cluster().id(), tls == nullptr);
  s.tls = std::move(tls);
  for (const auto& n : manifest.nodes()) {
    const role_id role{role_of_word(n.role()), config::index_of(manifest, n)};
    if (dials(who, role))
      s.dials.push_back({role, n.name(), {n.address(), static_cast<std::uint16_t>(n.port())}});
  }
  s.bandwidth = static_cast<std::uint64_t>(links.bandwidth());
  constexpr std::uint64_t for_files = 64;
  const auto descriptors = raise_descriptor_limit();
  s.connections = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      links.connections(), descriptors > 2 * for_files ? descriptors - for_files : for_files));
  s.strangers = std::min(links.strangers(), std::max(1u, s.connections / 2));
  s.connect_within = duration(links.connect_timeout());
  s.backoff = duration(links.backoff());
  s.backoff_limit = duration(links.backoff_limit());
  return s;
}

}  // namespace troupe
