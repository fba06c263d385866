// troupe manifest: checks a manifest, or prints the reference of manifests.

#include <chrono>
#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/deploy/manifest_check.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

int manifest_command(const std::vector<std::string>& arguments) {
  command_line line(
      "manifest check FILE [--name NAME] | manifest print FILE | manifest --markdown",
      "check: finds what is wrong with a manifest: names and ports given twice, hosts "
      "that are not known or cannot be reached, files that are missing, certificates "
      "that have expired or are another's. print: the manifest with all defaults.");
  std::string name;
  line.options().add_options()("name", po::value(&name)->value_name("NAME"),
                               "looks at the certificate of this node alone")(
      "markdown", "the reference as Markdown (docs/manifest.md)");
  line.positional("word", 2);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (values.count("markdown")) {
    std::cout << config::manifest_reference_markdown();
    return exit_done;
  }
  const auto words = values.count("word") ? values["word"].as<std::vector<std::string>>()
                                          : std::vector<std::string>();
  if (words.size() != 2 || (words[0] != "check" && words[0] != "print"))
    return report({errc::bad_usage,
                   "manifest takes check or print, and a file; see 'troupe manifest --help'"});
  const auto files = posix_file_system();
  const auto manifest = config::load_manifest(*files, words[1]);
  if (!manifest) return report(as_bad_input(manifest.failure()));
  if (words[0] == "print") {
    std::cout << config::to_toml(*manifest);
    return exit_done;
  }
  if (!name.empty() && config::find_node(*manifest, name) == nullptr)
    return report({errc::bad_usage, "the manifest has no node '" + name + "'"});
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  bool fatal = false;
  for (const auto& finding : check_manifest(*files, *manifest, name, now)) {
    fatal |= finding.fatal;
    std::cerr << words[1] << ": " << (finding.fatal ? "" : "warning: ") << finding.text << '\n';
  }
  if (fatal) return exit_bad_input;
  std::cout << format("%s: cluster '%s', %d nodes: nothing is wrong\n", words[1].c_str(),
                      manifest->cluster().id().c_str(), manifest->nodes_size());
  return exit_done;
}

}  // namespace troupe
