// troupe calibrate: what work takes on this machine, as the [simulate] section of a job has it.
//
// The very code that is to be priced is timed: small jobs run in virtual time, every turn of every
// node with a stopwatch, and the prices are those that explain the times best.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "apps/calibration/fit.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "apps/commands/virtual_job.hpp"
#include "apps/make_data.hpp"
#include "config/job.hpp"
#include "core/text.hpp"

namespace troupe {

namespace po = boost::program_options;

namespace {

// Jobs whose turns differ in everything that has a price: rows that are short and long, clocks that
// are small and large, keys that few and many servers share.
struct shape {
  std::uint64_t per_row;
  std::uint32_t minibatch, servers, staleness;
};
constexpr shape shapes[] = {{5, 20, 1, 0},    {5, 500, 3, 2},  {20, 10, 2, 0},  {20, 50, 2, 0},
                            {20, 1000, 1, 0}, {100, 20, 4, 2}, {100, 300, 2, 0}};

// A folder of its own, removed at the end.
class scratch_folder {
 public:
  explicit scratch_folder(std::string path) : path_(std::move(path)) {}
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

result<config::Job> synthetic_job(file_system& files, const std::string& folder, const shape& s) {
  apps::synthetic_options data;
  data.folder = folder + format("/%llu", static_cast<unsigned long long>(s.per_row));
  data.rows = 10'000;
  data.test_rows = 10;
  data.features = 50'000;
  data.per_row = s.per_row;
  if (!files.exists(data.folder + "/train.svm"))
    if (const auto made = apps::make_synthetic_data(files, data); !made) return made.failure();
  const auto text = format(
      "[data]\ntrain = \"%s/train.svm\"\ncache = \"%s/cache\"\n[training]\nepochs = 2\nminibatch = "
      "%u\n"
      "staleness = %u\n[cluster]\nworkers = 2\nservers = %u\nslots = 2\n[model]\noutput = \"\"\n",
      data.folder.c_str(), data.folder.c_str(), s.minibatch, s.staleness, s.servers);
  return config::parse_job(text, "calibration");
}

result<void> time_turns(const config::Job& job, turn_timings& timings) {
  auto settings = virtual_settings_of(job);
  if (!settings) return settings.failure();
  auto prepared = prepare_job(job, posix_file_system());
  if (!prepared) return prepared.failure();
  instant begun;
  settings->engine.before_turn = [&begun] { begun = wall_clock(); };
  settings->engine.on_turn = [&](const sim::turn_facts& turn) {
    timings.add(turn, static_cast<double>((wall_clock() - begun).count()));
  };
  const auto run = run_virtual_job(*prepared, *settings, {}, {});
  if (!run) return run.failure();
  if (run->status.phase() != pb::JobStatus::FINISHED)
    return error{static_cast<errc>(run->status.code()), run->status.text()};
  return {};
}

// The local stage is more than its turns: threads sleep and are woken for a message, and share
// caches. What that comes to is found by jobs that run in both: so much more for a message
// received, and a factor on everything, such that the virtual times are the local ones as nearly as
// can be.
struct local_stage {
  double waking_ns = 0;
  double factor = 1;
  double least = 1, most = 1;  // local time over virtual, of the single jobs
};

constexpr double wakings_ns[] = {0, 500, 1000, 2000, 4000, 8000};
constexpr duration local_latency = std::chrono::microseconds(1);

double training_seconds(const pb::JobStatus& status) {
  return static_cast<double>(status.training_ns()) * 1e-9;
}

// The median of three.
result<double> local_seconds(const config::Job& job) {
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    auto prepared = prepare_job(job, posix_file_system());
    if (!prepared) return prepared.failure();
    const auto status = run_job(*prepared, {});
    if (status.phase() != pb::JobStatus::FINISHED)
      return error{static_cast<errc>(status.code()), status.text()};
    seconds.push_back(training_seconds(status));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[1];
}

result<double> virtual_seconds(const config::Job& job, const turn_timings::fit& f,
                               const local_stage& stage) {
  auto settings = virtual_settings_of(job);
  if (!settings) return settings.failure();
  auto& e = settings->engine;
  e.price = f.price;
  for (auto& price : e.price.of_work) price *= stage.factor;
  e.price.message_sent *= stage.factor;
  e.price.message_received = (e.price.message_received + stage.waking_ns) * stage.factor;
  e.hosts = {1, std::max(1u, std::thread::hardware_concurrency())};
  e.network.between = {};
  e.network.between.latency = local_latency;
  e.network.node_bandwidth = 0;
  e.network.frame = 0;
  auto prepared = prepare_job(job, posix_file_system());
  if (!prepared) return prepared.failure();
  const auto run = run_virtual_job(*prepared, *settings, {}, {});
  if (!run) return run.failure();
  if (run->status.phase() != pb::JobStatus::FINISHED)
    return error{static_cast<errc>(run->status.code()), run->status.text()};
  return training_seconds(run->status);
}

// Sets the ratios' spread; returns their geometric mean and, second, their variance as logarithms.
result<std::pair<double, double>> compare(const std::vector<config::Job>& jobs,
                                          const std::vector<double>& local,
                                          const turn_timings::fit& f, local_stage& stage) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto seconds = virtual_seconds(jobs[i], f, stage);
    if (!seconds) return seconds.failure();
    logs.push_back(std::log(local[i] / *seconds));
  }
  double mean = 0, variance = 0;
  for (const double x : logs) mean += x / static_cast<double>(logs.size());
  for (const double x : logs) variance += (x - mean) * (x - mean);
  stage.least = std::exp(*std::min_element(logs.begin(), logs.end()));
  stage.most = std::exp(*std::max_element(logs.begin(), logs.end()));
  return std::pair(std::exp(mean), variance + mean * mean * static_cast<double>(logs.size()));
}

result<local_stage> measure_local_stage(file_system& files, const std::string& folder,
                                        const turn_timings::fit& f) {
  std::vector<config::Job> jobs;
  std::vector<double> local;
  for (const auto& s : shapes) {
    auto job = synthetic_job(files, folder, s);
    if (!job) return job.failure();
    job->mutable_training()->set_epochs(8);
    job->mutable_evaluation()->set_train(false);
    const auto seconds = local_seconds(*job);
    if (!seconds) return seconds.failure();
    jobs.push_back(std::move(*job));
    local.push_back(*seconds);
  }
  std::optional<local_stage> best;
  double best_misfit = 0;
  for (const auto waking : wakings_ns) {
    local_stage stage;
    stage.waking_ns = waking;
    // The factor does not act on the latency, so it is found in two steps.
    for (int step = 0; step < 2; ++step) {
      const auto ratio = compare(jobs, local, f, stage);
      if (!ratio) return ratio.failure();
      stage.factor *= ratio->first;
    }
    const auto misfit = compare(jobs, local, f, stage);
    if (!misfit) return misfit.failure();
    if (!best || misfit->second < best_misfit) {
      best = stage;
      best_misfit = misfit->second;
    }
  }
  return *best;
}

std::string toml_of(const turn_timings::fit& f, std::size_t turns,
                    const std::optional<local_stage>& local) {
  const double factor = local ? local->factor : 1;
  const auto price = [&f](work kind) { return f.price.of_work[static_cast<std::size_t>(kind)]; };
  auto text = format(
      "# What work takes on one processor of the machine that 'troupe calibrate' ran on, in "
      "nanoseconds:\n# fitted to %zu turns of %zu kinds; median error of a kind %.0f%%, of all "
      "together %+.1f%%.\n[simulate.cost]\n",
      turns, f.kinds, 100 * f.median_error, 100 * f.total_error);
  const auto line = [&text, factor](const char* key, double ns) {
    text += format("%s = %.4g\n", key, factor * ns);
  };
  line("example", price(work::examples));
  line("feature", price(work::features));
  line("key_pushed", price(work::keys_pushed));
  line("key_pulled", price(work::keys_pulled));
  line("key_prepared", price(work::keys_prepared));
  line("byte_encoded", price(work::bytes_encoded));
  line("message_sent", f.price.message_sent);
  line("message_received", f.price.message_received + (local ? local->waking_ns : 0));
  if (!local) return text;
  text += format(
      "\n# The local stage on this machine: all nodes share its processors, and threads sleep, are "
      "woken and share\n# caches. Told by made-up jobs that ran there: %.1f us more for a message "
      "received, and everything %.2f\n# times dearer than the turns alone. Both are in the prices "
      "above; those jobs take %.2f to %.2f times\n# what is foretold.\n[simulate.hosts]\ncount = "
      "1\ncores = %u\n\n[simulate.network]\nlatency = \"1 us\"\nnode_bandwidth = 0\nframe = 0\n",
      local->waking_ns * 1e-3, local->factor, local->least, local->most,
      std::max(1u, std::thread::hardware_concurrency()));
  return text;
}

int run(const std::string& job_file, const std::string& out, std::uint32_t rounds, bool local) {
  const auto files = posix_file_system();
  auto name = (std::filesystem::temp_directory_path() / "troupe-calibrate-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return report({errc::io, "no folder could be made in " +
                                 std::filesystem::temp_directory_path().string()});
  const scratch_folder scratch(name);
  turn_timings timings;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (!job_file.empty()) {
      const auto job = config::load_job(*files, job_file, {"model.output=\"\""});
      if (!job) return report(as_bad_input(job.failure()));
      if (const auto timed = time_turns(*job, timings); !timed) return report(timed.failure());
      continue;
    }
    for (const auto& s : shapes) {
      const auto job = synthetic_job(*files, scratch.path(), s);
      if (!job) return report(job.failure());
      if (const auto timed = time_turns(*job, timings); !timed) return report(timed.failure());
    }
  }
  const auto fit = timings.fitted();
  std::optional<local_stage> stage;
  if (local) {
    auto measured = measure_local_stage(*files, scratch.path(), fit);
    if (!measured) return report(measured.failure());
    stage = *measured;
  }
  const auto text = toml_of(fit, timings.turns(), stage);
  std::cout << text;
  if (!out.empty())
    if (const auto written = write_text_atomically(*files, out, text); !written)
      return report(written.failure());
  return exit_done;
}

}  // namespace

int calibrate_command(const std::vector<std::string>& arguments) {
  command_line line("calibrate [JOB] [options]",
                    "Measures what work takes on this machine and prints it as the [simulate] "
                    "section of a job; 'troupe sim --clock virtual --costs FILE' uses it. Times "
                    "small made-up jobs, or a job of yours, whose mix it then fits best. Let "
                    "nothing else run meanwhile.");
  line.options().add_options()("out",
                               po::value<std::string>()->default_value("")->value_name("FILE"),
                               "writes it to a file too")(
      "rounds", po::value<std::uint32_t>()->default_value(3)->value_name("N"),
      "how often everything is timed")(
      "local",
      "adds what makes the simulated cluster this very process: its processors, shared, "
      "and its messages' latency");
  line.positional("job", 1);
  po::variables_map values;
  if (const auto over = line.parse(arguments, values)) return *over;
  const auto job = values.count("job") ? values["job"].as<std::vector<std::string>>().front() : "";
  return run(job, values["out"].as<std::string>(),
             std::clamp(values["rounds"].as<std::uint32_t>(), 1u, 1000u),
             values.count("local") > 0);
}

}  // namespace troupe
