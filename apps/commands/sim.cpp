// troupe sim: a job's whole cluster in this process.

#include <csignal>
#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/console/progress.hpp"
#include "apps/console/result_json.hpp"
#include "apps/console/summary.hpp"
#include "apps/console/terminal.hpp"
#include "config/job.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

// How often Ctrl-C was pressed. The first asks the job to end early; the second ends the process at
// once.
volatile std::sig_atomic_t interrupts = 0;

void on_interrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) std::_Exit(exit_interrupted);
}

console::progress_style style_of(const std::string& word) {
  if (word == "none") return console::progress_style::none;
  const bool live = word == "live" || (word == "auto" && console::is_terminal(1));
  return live ? console::progress_style::live : console::progress_style::plain;
}

// --seed 7 is --set job.seed=7, and so on: the short forms of what is changed most.
config::overrides overrides_of(const po::variables_map& values) {
  config::overrides all;
  if (values.count("set")) all = values["set"].as<std::vector<std::string>>();
  for (const auto& [option, key] : {std::pair("seed", "job.seed"),
                                    {"workers", "cluster.workers"},
                                    {"servers", "cluster.servers"},
                                    {"slots", "cluster.slots"}})
    if (values.count(option))
      all.push_back(std::string(key) + "=" + values[option].as<std::string>());
  if (values.count("model")) {
    // As a TOML string, so that no folder name is taken for something else.
    std::string quoted;
    for (const char c : values["model"].as<std::string>())
      (c == '"' || c == '\\') ? (quoted += '\\', quoted += c) : quoted += c;
    all.push_back("model.output=\"" + quoted + "\"");
  }
  return all;
}

int exit_code_of_status(const pb::JobStatus& status) {
  if (status.phase() == pb::JobStatus::FAILED)
    return exit_code_of(static_cast<errc>(status.code()));
  return status.interrupted() ? exit_interrupted : exit_done;
}

int run(const config::Job& job, const std::string& json_file) {
  const auto files = posix_file_system();
  auto prepared = prepare_job(job, files);
  if (!prepared) return report(as_bad_input(prepared.failure()));
  auto& run = *prepared;

  const auto style = style_of(job.output().progress());
  console::progress progress(style, duration(job.output().progress_every()), run.facts);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const auto status = run_job(run, [&](const pb::JobStatus& s, instant now) {
    console::write_to(1, progress.on_status(s, now, console::terminal_width(1)));
    return interrupts > 0;
  });
  console::write_to(1, progress.wipe());
  run.facts.exit_code = exit_code_of_status(status);
  run.facts.failure = status.text();
  console::write_to(1, console::summary_table(status, run.facts));
  if (!json_file.empty())
    if (const auto written =
            write_text_atomically(*files, json_file, console::json_result(status, run.facts));
        !written)
      return report(written.failure());
  if (status.phase() == pb::JobStatus::FAILED)
    return report({static_cast<errc>(status.code()), status.text()});
  return run.facts.exit_code;
}

}  // namespace

int sim_command(const std::vector<std::string>& arguments) {
  command_line line("sim JOB [options]",
                    "Starts the scheduler, the servers and the workers of a job as actors of this "
                    "process, trains on all "
                    "cores, evaluates the model and saves it. Ctrl-C ends training early, and "
                    "saves the model first.");
  line.options().add_options()(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
      "overrides a key of the job, as in --set training.epochs=3 ('troupe config' lists them)")(
      "seed", po::value<std::string>()->value_name("N"), "overrides job.seed")(
      "workers", po::value<std::string>()->value_name("N"), "overrides cluster.workers")(
      "servers", po::value<std::string>()->value_name("N"), "overrides cluster.servers")(
      "slots", po::value<std::string>()->value_name("N"), "overrides cluster.slots")(
      "model", po::value<std::string>()->value_name("DIR"),
      "overrides model.output, the folder the model is saved in")(
      "json", po::value<std::string>()->default_value("")->value_name("FILE"),
      "writes all results to a file");
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("job"))
    return report({errc::bad_usage, "sim needs a job file; see 'troupe sim --help'"});
  const auto job =
      config::load_job(*posix_file_system(), values["job"].as<std::vector<std::string>>().front(),
                       overrides_of(values));
  if (!job) return report(as_bad_input(job.failure()));
  return run(*job, values["json"].as<std::string>());
}

}  // namespace troupe
