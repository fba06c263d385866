#pragma once
// What is wrong with a manifest that its text alone does not show: hosts, files, certificates.

#include <cstdint>
#include <string>
#include <vector>

#include "config/manifest.hpp"
#include "core/file.hpp"

namespace troupe {

struct manifest_finding {
  bool fatal = true;  // else a warning
  std::string text;
};

// `now` in seconds since 1970. `only`: the node whose files are looked at; empty: all of them.
std::vector<manifest_finding> check_manifest(file_system& files, const config::Manifest& manifest,
                                             const std::string& only, std::int64_t now);

}  // namespace troupe
