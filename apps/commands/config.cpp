// troupe config: the reference of job files, or what a job file amounts to.

#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "config/job.hpp"
#include "core/file.hpp"

namespace troupe {

namespace po = boost::program_options;

int config_command(const std::vector<std::string>& arguments) {
  command_line line("config [JOB] [--set KEY=VALUE]... [--markdown]",
                    "Prints every key of a job file with its meaning, default and range. With a "
                    "JOB: checks it, and prints "
                    "it with all defaults filled in.");
  line.options().add_options()("set", po::value<std::vector<std::string>>()->composing(),
                               "overrides a key of the job, as in --set training.epochs=3")(
      "markdown", "the reference as Markdown");
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("job")) {
    std::cout << (values.count("markdown") ? config::reference_markdown()
                                           : config::reference_text());
    return exit_done;
  }
  const auto overrides =
      values.count("set") ? values["set"].as<std::vector<std::string>>() : config::overrides{};
  const auto files = posix_file_system();
  const auto job =
      config::load_job(*files, values["job"].as<std::vector<std::string>>().front(), overrides);
  if (!job) return report(as_bad_input(job.failure()));
  std::cout << config::to_toml(*job);
  return exit_done;
}

}  // namespace troupe
