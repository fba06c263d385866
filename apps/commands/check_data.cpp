// troupe check-data: what files hold, and every fault in them.

#include <iostream>

#include "actors/worker/data/row_stream.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/data_check/data_report.hpp"
#include "apps/data_check/format_guess.hpp"
#include "apps/linear/linear_job.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

struct check_options {
  std::vector<std::string> files;
  std::string format, job;
  config::overrides set;
  std::uint64_t most_faults = 0;
};

// How the files are read: as a job says, or the options, or else as the first file looks.
result<config::Job> reading_of(file_system& files, const check_options& options) {
  if (!options.job.empty()) return config::load_job(files, options.job, options.set);
  auto set = options.set;
  if (!options.format.empty()) set.insert(set.begin(), "data.format=" + options.format);
  const bool says =
      !options.format.empty() || std::any_of(set.begin(), set.end(), [](const std::string& one) {
        return one.rfind("data.format", 0) == 0;
      });
  if (!says && options.files.front() == "-")
    return error{errc::bad_usage,
                 "standard input can be read only once: say what it is, as in --format libsvm"};
  if (!says) {
    const auto guess = guess_format(files, options.files.front());
    if (!guess) return guess.failure();
    std::cout << options.files.front() << " looks like " << guess->format
              << "; as sections of a job file:\n";
    std::string_view rest = guess->toml;
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size())))
      std::cout << "    " << rest.substr(0, rest.find('\n')) << '\n';
    set.insert(set.begin(), guess->settings.begin(), guess->settings.end());
  }
  return config::parse_job("[data]\ntrain = \"-\"\n", "check-data", set);
}

result<void> check(file_system& files, const check_options& options, const config::Job& job,
                   data_report& report) {
  auto data = data_options_of(job);
  data.reading.labels_optional = true;
  auto pipeline = row_pipeline::make(data.format, data.reading, data.shape);
  if (!pipeline) return pipeline.failure();
  example row;
  for (const auto& path : options.files) {
    const auto stream = row_stream::open(files, path, *pipeline, data.max_line_bytes, nullptr);
    if (!stream) return stream.failure();
    for (;;) {
      const auto step = (*stream)->next(row);
      if (!step) return step.failure();
      if (*step == row_stream::step::end) break;
      if (*step == row_stream::step::row) {
        report.add((*stream)->line(), row);
        continue;
      }
      if (options.most_faults == 0 || report.faults < options.most_faults)
        std::cout << (*stream)->fault() << '\n';
      ++report.faults;
    }
  }
  return {};
}

}  // namespace

int check_data_command(const std::vector<std::string>& arguments) {
  command_line line("check-data FILE... [options]",
                    "Reads data files and says what they hold: rows, labels, features, ranges of "
                    "values, duplicates, and every fault with its file, line, column and reason. "
                    "Says what format they look like where neither a job nor an option does. The "
                    "exit code is 2 if there was a fault.");
  check_options options;
  line.options().add_options()("format", po::value(&options.format)->value_name("NAME"),
                               "libsvm, libffm, criteo or csv")(
      "job", po::value(&options.job)->value_name("JOB"), "reads them as this job does")(
      "set", po::value(&options.set)->composing()->value_name("KEY=VALUE"),
      "sets a key of [data], as in --set data.index_base=0")(
      "faults", po::value(&options.most_faults)->default_value(0)->value_name("N"),
      "prints that many faults at most; 0: all");
  line.positional("file", -1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("file"))
    return report({errc::bad_usage, "check-data needs a file; see 'troupe check-data --help'"});
  options.files = values["file"].as<std::vector<std::string>>();
  const auto files = posix_file_system();
  const auto job = reading_of(*files, options);
  if (!job) return report(as_bad_input(job.failure()));
  data_report found;
  if (const auto done = check(*files, options, *job, found); !done)
    return report(as_bad_input(done.failure()));
  const bool has_indices = job->data().format() == "libsvm" || job->data().format() == "libffm";
  std::cout << options.files.front()
            << (options.files.size() > 1 ? format(" and %zu more", options.files.size() - 1) : "")
            << ", read as " << job->data().format() << ":\n";
  print(found, has_indices, job->data().index_base(), std::cout);
  return found.faults == 0 ? exit_done : exit_bad_input;
}

}  // namespace troupe
