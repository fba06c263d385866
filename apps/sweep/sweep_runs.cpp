#include "apps/sweep/sweep_runs.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <list>

#include "apps/sweep/child_program.hpp"
#include "config/job.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t most_result_bytes = std::uint64_t{256} << 20;
constexpr auto between_looks = std::chrono::milliseconds(20);  // at the children
constexpr auto last_chance = std::chrono::seconds(10);  // to save what it has, after an interrupt

std::string result_file(const std::string& folder, const sweep_run& run) {
  return folder + "/" + run.id + ".json";
}

// The result, if it is whole and of a job that finished.
std::optional<std::string> whole_result(file_system& files, const std::string& file) {
  if (!files.exists(file)) return std::nullopt;
  auto text = read_text(files, file, most_result_bytes);
  if (!text || figure_of(*text, "exit_code") != 0.0) return std::nullopt;
  return *text;
}

std::string last_line(file_system& files, const std::string& file, int exit_code) {
  const auto text = read_text(files, file, most_result_bytes);
  if (!text || text->empty()) return format("exit code %d", exit_code);
  const auto end = text->find_last_not_of('\n');
  if (end == std::string::npos) return format("exit code %d", exit_code);
  const auto begin = text->rfind('\n', end);
  return text->substr(begin == std::string::npos ? 0 : begin + 1,
                      end - (begin == std::string::npos ? 0 : begin));
}

struct child {
  std::size_t run = 0;
  child_program program;
  clock::time_point begun;
  std::optional<clock::time_point> killed_at;
  bool too_long = false;
};

double since(clock::time_point begun) {
  return std::chrono::duration<double>(clock::now() - begun).count();
}

}  // namespace

result<std::vector<sweep_run>> runs_of(file_system& files, const sweep_settings& sweep,
                                       const std::string& job_file, const std::string& folder) {
  std::vector<sweep_run> all;
  std::vector<std::optional<std::uint64_t>> seeds(sweep.seeds.begin(), sweep.seeds.end());
  if (seeds.empty()) seeds.emplace_back();
  for (std::size_t p = 0; p < sweep.points.size(); ++p)
    for (const auto& seed : seeds) {
      sweep_run run;
      run.point = p;
      run.seed = seed;
      run.overrides = {"model.output=\"\"", "output.progress=none"};
      const auto add = [&run](const std::vector<std::string>& more) {
        run.overrides.insert(run.overrides.end(), more.begin(), more.end());
      };
      add(sweep.set);
      add(sweep.points[p].set);
      if (seed) run.overrides.push_back("job.seed=" + std::to_string(*seed));
      const auto job = config::load_job(files, job_file, run.overrides);
      if (!job) return error{job.failure().code, sweep.points[p].name + ": " + job.failure().text};
      const auto all_that_counts = std::string(build_version()) +
                                   (sweep.in_virtual_time ? " virtual\n" : " real\n") +
                                   config::to_toml(*job);
      run.id = format("%016llx", static_cast<unsigned long long>(xxh64(all_that_counts, 0)));
      run.done = whole_result(files, result_file(folder, run)).has_value();
      all.push_back(std::move(run));
    }
  return all;
}

result<std::vector<sweep_outcome>> carry_out(const std::shared_ptr<file_system>& files,
                                             const sweep_settings& sweep,
                                             const std::string& job_file, const std::string& folder,
                                             const std::string& program,
                                             std::vector<sweep_run> runs,
                                             const sweep_watch& watch) {
  std::vector<std::optional<sweep_outcome>> outcomes(runs.size());
  std::list<child> children;
  std::size_t next = 0;
  bool stopping = false;
  const auto conclude = [&](std::size_t i, int exit_code, const std::string& failure,
                            double seconds) {
    sweep_outcome o;
    o.point = runs[i].point;
    o.seed = runs[i].seed;
    if (auto found = whole_result(*files, result_file(folder, runs[i])))
      o.json = std::move(*found);
    else
      o.failure = failure.empty() ? last_line(*files, folder + "/" + runs[i].id + ".log", exit_code)
                                  : failure;
    watch.on_end(runs[i], o, seconds);
    outcomes[i] = std::move(o);
  };
  while (next < runs.size() || !children.empty()) {
    while (!stopping && next < runs.size() && children.size() < sweep.parallel) {
      const auto i = next++;
      if (runs[i].done) {
        conclude(i, 0, "", 0);
        continue;
      }
      std::vector<std::string> words{program, "sim", job_file};
      if (sweep.in_virtual_time) words.insert(words.end(), {"--clock", "virtual"});
      for (const auto& o : runs[i].overrides) words.insert(words.end(), {"--set", o});
      words.insert(words.end(), {"--json", result_file(folder, runs[i])});
      auto started = child_program::start(words, folder + "/" + runs[i].id + ".log");
      if (!started) return started.failure();
      children.push_back({i, std::move(*started), clock::now(), std::nullopt, false});
    }
    if (stopping && children.empty()) break;
    for (auto c = children.begin(); c != children.end();) {
      if (c->program.ended()) {
        conclude(c->run, c->program.exit_code(),
                 c->too_long ? format("it took longer than %u s", sweep.run_limit_seconds) : "",
                 since(c->begun));
        c = children.erase(c);
        continue;
      }
      if (!c->killed_at && since(c->begun) > sweep.run_limit_seconds) {
        c->too_long = true;
        c->program.interrupt();
        c->killed_at = clock::now();
      }
      if (c->killed_at && clock::now() - *c->killed_at > last_chance) c->program.kill();
      ++c;
    }
    if (watch.interrupted() && !std::exchange(stopping, true))
      for (auto& c : children) {
        c.program.interrupt();
        c.killed_at = clock::now();
      }
    if (!children.empty()) poll(nullptr, 0, static_cast<int>(between_looks.count()));
  }
  std::vector<sweep_outcome> all;
  for (auto& o : outcomes)
    if (o) all.push_back(std::move(*o));
  return all;
}

}  // namespace troupe
