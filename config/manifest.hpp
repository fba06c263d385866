#pragma once
// A manifest: TOML text in, a checked config::Manifest out, with every default filled in. The
// schema is config/manifest.proto. Errors are as of job files: "cluster.toml:12:3: nodes.port:
// ...".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/manifest.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe::config {

// Paths in it are relative to its folder and become absolute.
result<Manifest> load_manifest(file_system& files, const std::string& path);
// The same of text that is no file; paths stay as they are.
result<Manifest> parse_manifest(std::string_view text, const std::string& name);
std::string to_toml(const Manifest& manifest);

std::string manifest_reference_markdown();

// The node of a name, or null.
const ManifestNode* find_node(const Manifest& manifest, const std::string& name);
// Its number among those of its role.
std::uint32_t index_of(const Manifest& manifest, const ManifestNode& node);
// How many of a role there are, spares not counted.
std::uint32_t count_of(const Manifest& manifest, const std::string& role);
const ManifestNode& scheduler_of(const Manifest& manifest);
const std::string& bind_address(const ManifestNode& node);

struct certificate_files {
  std::string certificate, key, authority;
};
// `name`: of a node, or "admin".
certificate_files files_of(const Tls& tls, const std::string& name);

// A name that may stand in a certificate, a path and on a command line.
bool is_plain_name(const std::string& name);

}  // namespace troupe::config
