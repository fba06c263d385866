#include "apps/commands/node_start.hpp"

#include <algorithm>
#include <filesystem>

#include "core/dialling.hpp"

namespace troupe {
namespace {

std::string own_path() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "troupe" : path.string();
}

}  // namespace

bool is_here(const config::ManifestNode& node) {
  const auto addresses = resolve(node.address());
  return addresses && std::any_of(addresses->begin(), addresses->end(), belongs_to_this_machine);
}

namespace {

// One word of a remote shell's command line.
std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<std::string> words_of(const config::ManifestNode& node, const up_options& o,
                                  const std::string& manifest_path, const std::string& run,
                                  bool fresh) {
  const bool far = o.ssh && !is_here(node);
  const bool by_ssh = far || (o.ssh && !node.ssh().empty());
  std::vector<std::string> words{
      by_ssh ? o.program : own_path(), "node", "--manifest", manifest_path, "--name", node.name()};
  if (node.role() == "scheduler") {
    words.push_back(o.job);
    words.insert(words.end(), {"--progress", "none"});
    if (!o.json.empty()) words.insert(words.end(), {"--json", o.json});
    if (!run.empty()) words.insert(words.end(), {"--run", run});
    if (fresh) words.push_back("--fresh");
  }
  for (const auto& each : o.overrides) words.insert(words.end(), {"--set", each});
  if (!by_ssh) return words;
  words.push_back("--until-eof");
  std::string command = "exec";
  for (const auto& word : words) command += " " + shell_word(word);
  return {"ssh",
          "-o",
          "BatchMode=yes",
          "-o",
          "ServerAliveInterval=5",
          node.ssh().empty() ? node.address() : node.ssh(),
          command};
}

}  // namespace troupe
