// troupe sweep: one job at many points, and a table of what came of it.

#include <csignal>
#include <filesystem>
#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/sweep/sweep_runs.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) {
  interrupted = 1;
}

struct sweep_options {
  std::string file, folder, csv, json, markdown;
  bool fresh = false, dry = false;
  std::uint32_t parallel = 0;  // 0: as the file says
};

std::string of_seed(const sweep_run& run) {
  return run.seed ? format("  seed %llu", static_cast<unsigned long long>(*run.seed)) : "";
}

// What is beside the results for people who open the folder.
std::string folder_page(const sweep_settings& sweep, const std::vector<sweep_run>& runs) {
  std::string text = "# The runs of this sweep: a result and a log to each.\n";
  for (const auto& run : runs) {
    text += run.id + "  " + sweep.points[run.point].name + of_seed(run) + "\n";
    for (const auto& o : run.overrides) text += "    --set " + o + "\n";
  }
  return text;
}

result<void> write_tables(file_system& files, const sweep_options& options,
                          const sweep_table& table, bool seeds) {
  for (const auto& [file, text] :
       {std::pair(options.csv, as_csv(table)), std::pair(options.json, as_json(table)),
        std::pair(options.markdown, as_markdown(table, seeds))})
    if (!file.empty())
      if (const auto written = write_text_atomically(files, file, text); !written) return written;
  return {};
}

int run(const sweep_options& options) {
  const auto files = posix_file_system();
  const auto text = read_text(*files, options.file, std::uint64_t{1} << 20);
  if (!text) return report(as_bad_input(text.failure()));
  auto sweep = read_sweep(*text, options.file);
  if (!sweep) return report(sweep.failure());
  if (options.parallel > 0) sweep->parallel = options.parallel;
  const std::filesystem::path here(options.file);
  if (sweep->name.empty()) sweep->name = here.stem().string();
  const auto job_file = (here.parent_path() / sweep->job).lexically_normal().string();
  const auto folder = options.folder.empty() ? sweep->name + ".sweep" : options.folder;
  if (options.fresh && !options.dry && files->exists(folder))
    if (const auto gone = files->remove(folder); !gone) return report(gone.failure());
  const auto runs = runs_of(*files, *sweep, job_file, folder);
  if (!runs) return report(as_bad_input(runs.failure()));
  if (options.dry) {
    for (const auto& r : *runs)
      std::cout << r.id << "  " << (r.done ? "done  " : "to run") << "  "
                << sweep->points[r.point].name << of_seed(r) << "\n";
    return exit_done;
  }
  if (const auto made = files->create_folders(folder); !made) return report(made.failure());
  if (const auto written =
          write_text_atomically(*files, folder + "/runs.txt", folder_page(*sweep, *runs));
      !written)
    return report(written.failure());

  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::size_t ended = 0;
  sweep_watch watch;
  watch.on_end = [&](const sweep_run& r, const sweep_outcome& o, double seconds) {
    std::cout << format("[%zu/%zu] ", ++ended, runs->size()) << sweep->points[r.point].name
              << of_seed(r) << "  "
              << (!o.failure.empty() ? "failed: " + o.failure
                  : r.done           ? "done before"
                                     : human_seconds(seconds))
              << std::endl;
  };
  watch.interrupted = [] { return interrupted != 0; };
  const auto outcomes =
      carry_out(files, *sweep, job_file, folder,
                std::filesystem::read_symlink("/proc/self/exe").string(), *runs, watch);
  if (!outcomes) return report(outcomes.failure());
  const auto table = tabulate(*sweep, *outcomes);
  const bool seeds = sweep->seeds.size() > 1;
  std::cout << "\n"
            << sweep->name << ", by " << table.rank_by
            << (table.largest_first ? ", the largest first\n" : ", the smallest first\n")
            << as_text(table, seeds);
  if (const auto written = write_tables(*files, options, table, seeds); !written)
    return report(written.failure());
  if (interrupted != 0) return exit_interrupted;
  for (const auto& o : *outcomes)
    if (!o.failure.empty()) return exit_failed;
  return exit_done;
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  command_line line("sweep FILE [options]",
                    "Runs one job at many points, each in a process of its own, and tabulates what "
                    "came of it, the best first. Runs whose results are there already are not run "
                    "again: after an interruption the same command goes on. docs/sweeps.md says "
                    "what a sweep file holds.");
  line.options().add_options()("out",
                               po::value<std::string>()->default_value("")->value_name("DIR"),
                               "the folder of the results; by default NAME.sweep, here")(
      "parallel", po::value<std::uint32_t>()->default_value(0)->value_name("N"),
      "runs at a time; 0: as the file says")("fresh", "forgets earlier results")(
      "dry-run", "lists the runs, and which are done")(
      "csv", po::value<std::string>()->default_value("")->value_name("FILE"),
      "writes the table as CSV")("json",
                                 po::value<std::string>()->default_value("")->value_name("FILE"),
                                 "writes the table as JSON")(
      "markdown", po::value<std::string>()->default_value("")->value_name("FILE"),
      "writes the table as Markdown");
  line.positional("sweep", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("sweep"))
    return report({errc::bad_usage, "sweep needs a sweep file; see 'troupe sweep --help'"});
  sweep_options o;
  o.file = values["sweep"].as<std::vector<std::string>>().front();
  o.folder = values["out"].as<std::string>();
  o.csv = values["csv"].as<std::string>();
  o.json = values["json"].as<std::string>();
  o.markdown = values["markdown"].as<std::string>();
  o.parallel = values["parallel"].as<std::uint32_t>();
  o.fresh = values.count("fresh") > 0;
  o.dry = values.count("dry-run") > 0;
  return run(o);
}

}  // namespace troupe
