// troupe chaos: faults, while a cluster works, and whether it keeps its promises.

#include <filesystem>
#include <iostream>

#include "actors/supervision/landmarks.hpp"
#include "apps/chaos/fault_kinds.hpp"
#include "apps/commands/chaos_sweep.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "core/log.hpp"
#include "core/planted_bug.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

int list_kinds() {
  std::cout << "kind            possible with             what it does\n";
  for (const auto& k : chaos::all_fault_kinds()) {
    std::string where;
    for (int t = 0; t < 3; ++t)
      if (k.possible[t])
        where += std::string(where.empty() ? "" : ", ") +
                 chaos::to_string(static_cast<chaos::target>(t));
    std::cout << format("%-15s %-25s %s%s%s\n", k.name, where.c_str(), k.does,
                        *k.takes == '\0' ? "" : "; takes ", k.takes);
  }
  return exit_done;
}

int list_states() {
  for (const auto* state : landmark::all) std::cout << state << '\n';
  return exit_done;
}

int list_bugs() {
  for (std::size_t i = 0; i < planted_bug_count; ++i)
    std::cout << format("%-28s %s\n", std::string(planted_bugs[i].name).c_str(),
                        std::string(planted_bugs[i].breaks).c_str());
  return exit_done;
}

// "7" or "1..1000".
result<std::pair<std::uint64_t, std::uint64_t>> seeds_of(const std::string& text) {
  const error wrong{errc::bad_usage,
                    "--seeds is a number, or two as in 1..1000, not '" + text + "'"};
  const auto dots = text.find("..");
  try {
    std::size_t used = 0;
    const auto first_text = text.substr(0, dots);
    const std::uint64_t first = std::stoull(first_text, &used);
    if (used != first_text.size()) return wrong;
    if (dots == std::string::npos) return std::pair(first, first);
    const auto last_text = text.substr(dots + 2);
    const std::uint64_t last = std::stoull(last_text, &used);
    if (used != last_text.size() || last < first) return wrong;
    return std::pair(first, last);
  } catch (const std::exception&) {
    return wrong;
  }
}

result<chaos::target> target_of(const std::string& word) {
  for (const auto t :
       {chaos::target::in_virtual_time, chaos::target::in_one_process, chaos::target::on_processes})
    if (word == chaos::to_string(t)) return t;
  return error{errc::bad_usage, "--target is virtual, local or processes, not '" + word + "'"};
}

}  // namespace

int chaos_command(const std::vector<std::string>& arguments) {
  command_line line(
      "chaos SCENARIO... [options]\n       troupe chaos --random --seeds A..B [options]",
      "Troubles a cluster while it works, and checks that it keeps its promises: as the scenarios "
      "say, or as seeds decide. What breaks a promise is shrunk to a small scenario that shows the "
      "same. Exit code 0: all was kept; 1: something was broken; 2: a scenario is wrong.");
  chaos_options o;
  std::string seeds, target = "virtual";
  std::uint64_t seed = 0;
  line.options().add_options()("random", "draws cluster, workload and faults from each seed")(
      "job", po::value(&o.job)->value_name("FILE"),
      "with --random: the workload of all draws is what this job file trains")(
      "seed", po::value(&seed)->value_name("N"), "in place of the scenario's own")(
      "seeds", po::value(&seeds)->value_name("A..B"), "each of these, in turn")(
      "target", po::value(&target)->value_name("virtual|local|processes"),
      "in virtual time, in this process, or as processes of their own")(
      "jobs", po::value(&o.jobs)->value_name("N"),
      "runs at once (as many as there are processors)")(
      "least", po::value(&o.least_coverage)->value_name("N"),
      "with --random: every fault must have met every state so often, or the sweep fails")(
      "json", po::value(&o.json)->value_name("FILE"), "writes the results to a file")(
      "junit", po::value(&o.junit)->value_name("FILE"), "the same for continuous integration")(
      "timeline", po::value(&o.timeline)->value_name("FILE"),
      "writes what happened, as text or, by its ending, as a page (.html)")(
      "out", po::value(&o.out)->value_name("FOLDER"), "where shrunk scenarios go (chaos-failures)")(
      "no-shrink", "does not look for a smaller scenario")("keep-going",
                                                           "does not stop at the first violation")(
      "print", "prints what a seed draws, or a scenario with its chances made, and ends")(
      "kinds", "lists the kinds of faults")("states", "lists the states of the protocol")(
      "bug", po::value(&o.bug)->value_name("NAME"),
      "with a planted bug, in a build that has them (-DTROUPE_PLANTED_BUGS=ON)")(
      "bugs", "lists the planted bugs")("markdown",
                                        "the reference of scenarios (docs/scenario.md)");
  line.positional("scenario", 1000);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (values.count("kinds")) return list_kinds();
  if (values.count("states")) return list_states();
  if (values.count("bugs")) return list_bugs();
  if (values.count("markdown")) {
    std::cout << config::scenario_reference_markdown();
    return exit_done;
  }
  if (!choose_planted_bug(o.bug))
    return report({errc::bad_usage, "--bug: this build has no planted bug '" + o.bug + "'"});
  o.random = values.count("random") > 0;
  o.shrinks = values.count("no-shrink") == 0;
  o.keeps_going = values.count("keep-going") > 0;
  o.prints = values.count("print") > 0;
  if (values.count("scenario")) o.files = values["scenario"].as<std::vector<std::string>>();
  if (o.random == !o.files.empty())
    return report({errc::bad_usage,
                   "chaos needs scenario files, or --random with seeds; see "
                   "'troupe chaos --help'"});
  if (!o.job.empty()) {
    if (!o.random) return report({errc::bad_usage, "--job goes with --random"});
    o.job = std::filesystem::absolute(o.job).string();
  }
  if (values.count("seed")) seeds = std::to_string(seed);
  if (!seeds.empty()) {
    const auto range = seeds_of(seeds);
    if (!range) return report(range.failure());
    o.seeds = *range;
  } else if (o.random) {
    return report({errc::bad_usage, "--random needs --seed N or --seeds A..B"});
  }
  const auto where = target_of(target);
  if (!where) return report(where.failure());
  o.where = *where;
  // What the nodes log of faults that are meant is noise; the timeline has it.
  log_settings quiet;
  quiet.level = log_level::off;
  if (const auto set = configure_log(quiet); !set) return report(set.failure());
  return run_chaos(o);
}

}  // namespace troupe
