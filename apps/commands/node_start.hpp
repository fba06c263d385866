#pragma once
// How one node's process is started, here or by ssh.

#include <string>
#include <vector>

#include "config/job.hpp"
#include "config/manifest.hpp"

namespace troupe {

struct up_options {
  std::string manifest, job, json, progress = "auto", program;
  bool ssh = false, fresh = false;
  config::overrides overrides;
};

// Whether a node's address is one of this machine's.
bool is_here(const config::ManifestNode& node);

// The command that runs a node: words[0] is "ssh" where that is far away.
std::vector<std::string> words_of(const config::ManifestNode& node, const up_options& o,
                                  const std::string& manifest_path, const std::string& run = "",
                                  bool fresh = false);

}  // namespace troupe
