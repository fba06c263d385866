// The executable.

#include <algorithm>
#include <cstring>
#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/troupe/huge_pages.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace {

constexpr troupe::subcommand commands[] = {
    {"sim", "run a job's whole cluster in this process", troupe::sim_command},
    {"up", "start a cluster's nodes, and train a job on them", troupe::up_command},
    {"node", "one node of a cluster", troupe::node_command},
    {"status", "how a running cluster is", troupe::status_command},
    {"add", "bring a node into a running cluster", troupe::add_command},
    {"drain", "take from a node what it has", troupe::drain_command},
    {"rebalance", "even out what servers have to do", troupe::rebalance_command},
    {"stop", "end a running job, and save its model", troupe::stop_command},
    {"certs", "make a cluster's certificates", troupe::certs_command},
    {"manifest", "check a manifest", troupe::manifest_command},
    {"chaos", "trouble a cluster, and see whether it keeps its promises", troupe::chaos_command},
    {"sweep", "run a job at many points and tabulate it", troupe::sweep_command},
    {"calibrate", "measure what work takes, for virtual time", troupe::calibrate_command},
    {"checkpoint", "the checkpoints of a job, and models of them", troupe::checkpoint_command},
    {"evaluate", "measure a saved model on data", troupe::evaluate_command},
    {"predict", "a saved model's predictions of rows", troupe::predict_command},
    {"inspect", "what a saved model is", troupe::inspect_command},
    {"export", "write a saved model for other programs", troupe::export_command},
    {"import", "make a model of what was exported", troupe::import_command},
    {"check-data", "what data files hold, and what is wrong with them", troupe::check_data_command},
    {"config", "the reference of job files, or a checked job", troupe::config_command},
    {"make-data", "make data to learn from", troupe::make_data_command},
};

void print_usage(std::ostream& out) {
  out << "usage: troupe COMMAND ...\n\nA parameter server built of actors.\n\n";
  for (const auto& c : commands) out << troupe::format("  %-11s%s\n", c.name, c.summary);
  out << "\n'troupe COMMAND --help' says what a command takes; --version prints the version.\n";
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_usage(std::cerr);
    return troupe::exit_bad_input;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage(std::cout);
    return troupe::exit_done;
  }
  if (words[0] == "--version") {
    std::cout << "troupe " << troupe::build_version() << '\n';
    return troupe::exit_done;
  }
  std::vector<std::string> names;
  for (const auto& c : commands) {
    if (words[0] == c.name) return c.run({words.begin() + 1, words.end()});
    names.emplace_back(c.name);
  }
  const auto near = troupe::nearest(words[0], names);
  return troupe::report(
      {troupe::errc::bad_usage,
       "unknown command '" + words[0] + "'" +
           (near.empty() ? "; see 'troupe --help'" : "; did you mean '" + near + "'?")});
}

}  // namespace

int main(int argc, char** argv) {
#ifdef TROUPE_TCMALLOC
  troupe::ask_for_huge_pages();
#endif
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& bug) {
    std::cerr << "troupe: internal error: " << bug.what() << '\n';
    return troupe::exit_failed;
  }
}
