#include "config/manifest.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "config/check.hpp"
#include "config/reading.hpp"
#include "core/text.hpp"

namespace troupe::config {
namespace {

std::vector<misfit> misfits_of(const Manifest& m) {
  std::vector<misfit> found;
  if (!is_plain_name(m.cluster().id()))
    found.push_back(
        {"cluster.id", "'" + m.cluster().id() + "' has other letters than are allowed"});
  if (m.nodes().empty()) found.push_back({"nodes", "there are none"});
  std::map<std::string, std::string> where;  // "address:port" to the node that has it
  std::set<std::string> names;
  std::uint32_t schedulers = 0;
  for (const auto& n : m.nodes()) {
    const auto name = n.name().empty() ? "a node" : "'" + n.name() + "'";
    if (!is_plain_name(n.name()))
      found.push_back({"nodes.name", name + " needs a name of letters, digits, '-', '_' and '.'"});
    else if (!names.insert(n.name()).second)
      found.push_back({"nodes.name", "two nodes are called " + name});
    if (n.name() == "admin" || n.name() == "ca")
      found.push_back({"nodes.name", name + " is the name of a certificate that is no node's"});
    if (n.role() == "scheduler") {
      ++schedulers;
      if (n.port() == 0)
        found.push_back(
            {"nodes.port", "the scheduler " + name + " needs a port: the others find it there"});
      if (n.spare()) found.push_back({"nodes.spare", "the scheduler cannot be a spare"});
    }
    if (n.address().empty()) found.push_back({"nodes.address", name + " has no address"});
    if (n.port() == 0 || n.role() == "worker") continue;
    const auto at = n.address() + ":" + std::to_string(n.port());
    if (const auto [other, fresh] = where.emplace(at, name); !fresh)
      found.push_back({"nodes.port", name + " and " + other->second + " both listen at " + at});
  }
  if (schedulers != 1 && !m.nodes().empty())
    found.push_back(
        {"nodes.role", format("a cluster has one scheduler; this one has %u", schedulers)});
  if (m.links().silence() < 4 * m.links().beat_every())
    found.push_back({"links.silence",
                     "it must be at least four times links.beat_every, or a link "
                     "is taken for broken that is only quiet"});
  if (m.links().window() < m.links().chunk())
    found.push_back({"links.window", "it must hold a chunk at least (links.chunk)"});
  if (m.links().backoff_limit() < m.links().backoff())
    found.push_back({"links.backoff_limit", "it lies below links.backoff"});
  return found;
}

result<Manifest> read_manifest(std::string_view text, const std::string& name,
                               const path_base& paths) {
  Manifest m;
  reading r(m);
  const auto tree = parse_toml(text, name);
  if (!tree) return tree.failure();
  r.read(*tree, paths);
  r.finish(name, paths);
  if (r.faults().empty())
    for (auto& misfit : misfits_of(m))
      r.faults().add(r.place_of(misfit.key, name), misfit.key, std::move(misfit.text));
  if (!r.faults().empty()) return r.faults().as_error();
  return m;
}

}  // namespace

result<Manifest> parse_manifest(std::string_view text, const std::string& name) {
  return read_manifest(text, name, {});
}

result<Manifest> load_manifest(file_system& files, const std::string& path) {
  constexpr std::uint64_t limit = std::uint64_t{16} << 20;
  const auto text = read_text(files, path, limit);
  if (!text) return text.failure();
  const auto base = base_of(path);
  if (!base) return base.failure();
  return read_manifest(*text, path, *base);
}

const ManifestNode* find_node(const Manifest& manifest, const std::string& name) {
  const auto found = std::find_if(manifest.nodes().begin(), manifest.nodes().end(),
                                  [&](const ManifestNode& n) { return n.name() == name; });
  return found == manifest.nodes().end() ? nullptr : &*found;
}

std::uint32_t index_of(const Manifest& manifest, const ManifestNode& node) {
  std::uint32_t index = 0;
  for (const auto& n : manifest.nodes()) {
    if (n.name() == node.name()) break;
    if (n.role() == node.role()) ++index;
  }
  return index;
}

std::uint32_t count_of(const Manifest& manifest, const std::string& role) {
  return static_cast<std::uint32_t>(
      std::count_if(manifest.nodes().begin(), manifest.nodes().end(),
                    [&](const ManifestNode& n) { return n.role() == role && !n.spare(); }));
}

const ManifestNode& scheduler_of(const Manifest& manifest) {
  return *std::find_if(manifest.nodes().begin(), manifest.nodes().end(),
                       [](const ManifestNode& n) { return n.role() == "scheduler"; });
}

const std::string& bind_address(const ManifestNode& node) {
  return node.bind().empty() ? node.address() : node.bind();
}

certificate_files files_of(const Tls& tls, const std::string& name) {
  const auto or_in_folder = [&](const std::string& path, const std::string& file) {
    return path.empty() ? tls.folder() + "/" + file : path;
  };
  return {or_in_folder(tls.certificate(), name + ".pem"), or_in_folder(tls.key(), name + ".key"),
          or_in_folder(tls.authority(), "ca.pem")};
}

bool is_plain_name(const std::string& name) {
  if (name.empty() || name.size() > 60 || name[0] == '.' || name[0] == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace troupe::config
