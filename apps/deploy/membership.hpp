#pragma once
// From a manifest to what a node's links need: who the node is, whom it dials, and whom it admits.

#include <memory>
#include <mutex>
#include <string>

#include "actors/links/links_actor.hpp"
#include "config/manifest.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// A manifest that may grow while the cluster runs: when somebody unknown knocks, the file is read
// again, at most once a second.
class live_manifest {
 public:
  live_manifest(std::shared_ptr<file_system> files, std::string path, config::Manifest manifest)
      : files_(std::move(files)), path_(std::move(path)), manifest_(std::move(manifest)) {}
  static result<std::shared_ptr<live_manifest>> load(std::shared_ptr<file_system> files,
                                                     const std::string& path);

  config::Manifest present() const;
  // Whether the manifest has this node. `now` in seconds of any clock.
  bool knows(const std::string& name, pb::Role role, std::uint32_t index, double now);
  const std::string& path() const { return path_; }

 private:
  bool has(const std::string& name, pb::Role role, std::uint32_t index) const;
  const std::shared_ptr<file_system> files_;
  const std::string path_;
  mutable std::mutex mutex_;
  config::Manifest manifest_;
  double read_at_ = -1;
};

pb::Role role_of_word(const std::string& word);  // "server"; unspecified if it is none
std::string word_of_role(pb::Role role);

// Who speaks: a node of the manifest, or an administrator.
struct membership {
  std::string name;
  role_id role;
  std::uint64_t incarnation = 0;
};

// What a node of that manifest is; an error says that there is none of the name.
result<membership> member_of(const config::Manifest& manifest, const std::string& name);

// Opens certificate, key and authority; null in an insecure cluster. An error if the certificate is
// another's, or an insecure cluster reaches beyond loopback.
result<std::shared_ptr<const tls_context>> open_security(file_system& files,
                                                         const config::Manifest& manifest,
                                                         const membership& who);

links_setup links_of(std::shared_ptr<live_manifest> manifest, const membership& who,
                     std::shared_ptr<const tls_context> tls);

}  // namespace troupe
