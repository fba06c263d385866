// troupe sim: a job's whole cluster in this process.

#include <csignal>
#include <iostream>

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/conclusion.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/commands/virtual_job.hpp"
#include "apps/console/progress.hpp"
#include "apps/console/terminal.hpp"
#include "apps/virtual/virtual_results.hpp"
#include "config/job.hpp"
#include "sim/report/page.hpp"

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

struct sim_options {
  bool trace_traffic = false;
  bool in_virtual_time = false;
  run_choices choices;
  std::string json, trace, report;  // files; empty: none
};

int run_in_real_time(prepared_job& run, console::progress& progress, const sim_options& options) {
  const auto status = run_job(run, [&](const pb::JobStatus& s, instant now) {
    console::write_to(1, progress.on_status(s, now, console::terminal_width(1)));
    return interrupts > 0;
  });
  console::write_to(1, progress.wipe());
  return conclude(run, status, "", {}, options.json);
}

int run_in_virtual_time(prepared_job& run, const config::Job& job, console::progress& progress,
                        const sim_options& options) {
  auto settings = virtual_settings_of(job);
  if (!settings) return report(settings.failure());
  virtual_run_files files{options.trace, options.report};
  const auto outcome =
      run_virtual_job(run, *settings, files, [&](const pb::JobStatus& s, instant virtual_now) {
        console::write_to(
            1, progress.on_status(s, virtual_now, wall_clock(), console::terminal_width(1)));
        return interrupts > 0;
      });
  console::write_to(1, progress.wipe());
  if (!outcome) return report(outcome.failure());
  const virtual_facts facts{run.facts.wall_seconds, settings->objective_target,
                            outcome->target_reached};
  return conclude(run, outcome->status, virtual_summary(outcome->record, facts),
                  virtual_json(outcome->record, facts), options.json);
}

int run(const config::Job& job, sim_options options) {
  if (options.trace_traffic) {
    options.choices.log = log_settings_of(job.log());
    options.choices.log->components["traffic"] = log_level::trace;
  }
  if (options.in_virtual_time)
    if (const auto settings = virtual_settings_of(job); !settings)
      return report(settings.failure());
  if (options.in_virtual_time && job.debug().kills_size() > 0)
    return report({errc::bad_config,
                   "debug.kills is for real time; in virtual time say it in simulate.faults"});
  auto prepared = prepare_job(job, posix_file_system(), options.choices);
  if (!prepared) return report(as_bad_input(prepared.failure()));
  console::progress progress(style_of(job.output().progress()),
                             duration(job.output().progress_every()), prepared->facts);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  return options.in_virtual_time ? run_in_virtual_time(*prepared, job, progress, options)
                                 : run_in_real_time(*prepared, progress, options);
}

// Options that say something only in virtual time.
result<sim_options> sim_options_of(const po::variables_map& values) {
  sim_options o;
  const auto clock = values["clock"].as<std::string>();
  if (clock != "real" && clock != "virtual")
    return error{errc::bad_usage, "--clock is real or virtual, not '" + clock + "'"};
  o.in_virtual_time = clock == "virtual";
  o.choices.resume = values.count("resume") > 0;
  o.trace_traffic = values.count("trace-traffic") > 0;
  o.json = values["json"].as<std::string>();
  o.trace = values["trace"].as<std::string>();
  o.report = values["report"].as<std::string>();
  if (!o.in_virtual_time && !o.trace.empty())
    return error{errc::bad_usage, "--trace needs --clock virtual"};
  if (!o.in_virtual_time && !o.report.empty())
    return error{errc::bad_usage, "--report needs --clock virtual"};
  if (!o.report.empty() && !sim::page_is_built_in())
    return error{errc::bad_usage,
                 "this troupe was built without pages (-DTROUPE_REPORT=OFF): no --report"};
  return o;
}

}  // namespace

int sim_command(const std::vector<std::string>& arguments) {
  command_line line("sim JOB [options]",
                    "Starts the scheduler, the servers and the workers of a job as actors of this "
                    "process, trains on all "
                    "cores, evaluates the model and saves it. Ctrl-C ends training early, and "
                    "saves the model first.\n\nWith --clock virtual the same actors run in one "
                    "thread, on a simulated network and in a time of their own, as [simulate] of "
                    "the job says: the same files and seed give the same run, bit for bit.");
  add_override_options(line.options());
  line.options().add_options()(
      "costs", po::value<std::string>()->default_value("")->value_name("FILE"),
      "another file of a job's sections, which replace the job's: what 'troupe calibrate' wrote")(
      "resume", "goes on from the latest checkpoint of an earlier run that is whole")(
      "clock", po::value<std::string>()->default_value("real")->value_name("real|virtual"),
      "whose time the cluster runs in")(
      "json", po::value<std::string>()->default_value("")->value_name("FILE"),
      "writes all results to a file")(
      "trace-traffic",
      "logs every message between slots and servers: what it is of, and its bytes "
      "before and after its filters")(
      "trace", po::value<std::string>()->default_value("")->value_name("FILE"),
      "in virtual time: writes every node's timeline, for Perfetto")(
      "report", po::value<std::string>()->default_value("")->value_name("FILE.html"),
      "in virtual time: writes a page that shows the run");
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  if (!values.count("job"))
    return report({errc::bad_usage, "sim needs a job file; see 'troupe sim --help'"});
  const auto options = sim_options_of(values);
  if (!options) return report(options.failure());
  std::vector<std::string> costs;
  if (const auto& file = values["costs"].as<std::string>(); !file.empty()) costs.push_back(file);
  const auto job =
      config::load_job(*posix_file_system(), values["job"].as<std::vector<std::string>>().front(),
                       overrides_of(values), costs);
  if (!job) return report(as_bad_input(job.failure()));
  return run(*job, *options);
}

}  // namespace troupe
