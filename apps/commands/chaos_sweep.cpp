#include "apps/commands/chaos_sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include "apps/chaos/chaos_report.hpp"
#include "apps/chaos/coverage.hpp"
#include "apps/chaos/draw.hpp"
#include "apps/chaos/isolated.hpp"
#include "apps/chaos/local_target.hpp"
#include "apps/chaos/process_target.hpp"
#include "apps/chaos/shrink.hpp"
#include "apps/chaos/strike.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "apps/commands/command.hpp"
#include "apps/commands/commit.hpp"
#include "apps/commands/job_run.hpp"
#include "apps/console/json.hpp"
#include "apps/console/terminal.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"

namespace troupe {
namespace {

using ull = unsigned long long;
using console::json;

// A scenario with one of its seeds.
struct asked_run {
  std::string name;    // "config/chaos/x.toml", "seed 7"
  std::string replay;  // the command that does it again
  config::Scenario scenario;
};

std::string titled(const asked_run& a) {
  const auto filters = chaos::describe_filters(a.scenario);
  return filters.empty() ? a.name : a.name + ", " + filters;
}

class sweep {
 public:
  explicit sweep(const chaos_options& o) : o_(o) {}

  int run() {
    if (const auto read = collect(); !read) return report(as_bad_input(read.failure()));
    if (o_.prints) return print();
    const auto begun = wall_clock();
    console::write_to(1, format("chaos: %llu runs, %s, %s (%s)\n", ull(count()),
                                chaos::to_string(o_.where), build_version(), build_commit()));
    play();
    const auto took = seconds_of(wall_clock() - begun);
    console::write_to(1, wipe());
    return conclude(took);
  }

 private:
  std::uint64_t count() const {
    const auto of_each = o_.seeds ? o_.seeds->second - o_.seeds->first + 1 : 1;
    return o_.random ? of_each : of_each * scenarios_.size();
  }
  result<void> collect();
  asked_run asked(std::uint64_t number) const;
  int print() const;
  void play();
  bool on_end(const chaos::brief_outcome& e);
  int conclude(double took);
  result<chaos::run_outcome> run_for_real(const asked_run& a, std::uint64_t number) const;
  void look_closer(const chaos::brief_outcome& failed);
  result<void> write_files(double took) const;
  std::string wipe() const { return shows_progress() ? "\r\033[K" : ""; }
  bool shows_progress() const { return console::is_terminal(1); }

  const chaos_options& o_;
  const std::shared_ptr<file_system> files_ = posix_file_system();
  std::vector<std::pair<std::string, config::Scenario>> scenarios_;
  std::vector<chaos::brief_outcome> failures_;
  std::vector<chaos::tested> cases_;
  chaos::coverage covered_;
  chaos::filters_met filters_;
  std::uint64_t done_ = 0, faults_ = 0, withheld_ = 0, pushes_ = 0;
  duration virtual_time_{};
};

// What is wrong with a job is said before anything runs; and its data's cache is made once.
result<void> sweep::collect() {
  if (o_.random)
    if (const auto works = chaos::make_workload(asked(o_.seeds->first).scenario); !works)
      return works.failure();
  for (const auto& path : o_.files) {
    auto read = config::load_scenario(*files_, path, chaos::all_words());
    if (!read) return read.failure();
    if (const auto fits = chaos::plan_of(*read, o_.where); !fits)
      return error{errc::bad_config, path + ": " + fits.failure().text};
    if (const auto works = chaos::make_workload(*read); !works) return works.failure();
    scenarios_.emplace_back(path, std::move(*read));
  }
  return {};
}

asked_run sweep::asked(std::uint64_t number) const {
  asked_run a;
  const auto bug = o_.bug.empty() ? "" : " --bug " + o_.bug;
  if (o_.random) {
    a.name = format("seed %llu", ull(number));
    a.scenario = chaos::draw(number, o_.job);
    a.replay = format("troupe chaos --random --seed %llu", ull(number)) +
               (o_.job.empty() ? "" : " --job " + o_.job) + bug;
    return a;
  }
  const auto of_each = o_.seeds ? o_.seeds->second - o_.seeds->first + 1 : 1;
  const auto& [path, scenario] = scenarios_[number / of_each];
  a.scenario = scenario;
  a.name = path;
  a.replay = "troupe chaos " + path + bug;
  if (o_.where != chaos::target::in_virtual_time)
    a.replay += std::string(" --target ") + chaos::to_string(o_.where);
  if (o_.seeds) {
    const auto seed = o_.seeds->first + number % of_each;
    a.scenario.mutable_scenario()->set_seed(seed);
    a.name += format(" seed %llu", ull(seed));
    a.replay += format(" --seed %llu", ull(seed));
  }
  return a;
}

int sweep::print() const {
  const auto first = o_.random ? o_.seeds->first : 0;
  for (std::uint64_t i = 0; i < count(); ++i) {
    const auto a = asked(first + i);
    std::cout << "# " << a.name << "\n"
              << config::to_toml(chaos::made_explicit(a.scenario)) << "\n";
  }
  return exit_done;
}

bool sweep::on_end(const chaos::brief_outcome& e) {
  ++done_;
  faults_ += e.faults;
  withheld_ += e.withheld;
  pushes_ += e.pushes;
  virtual_time_ += e.took;
  for (const auto& [cell, n] : e.covered) covered_[cell] += n;
  if (e.faults > 0)
    for (const auto& filter : chaos::filters_in(asked(e.number).scenario)) ++filters_[filter];
  if (!o_.junit.empty() || !o_.json.empty() || !o_.random)
    cases_.push_back({asked(e.number).name, seconds_of(e.took),
                      e.ok() ? "" : e.first->promise + ": " + e.first->text});
  if (!e.ok()) failures_.push_back(e);
  if (!o_.random)
    console::write_to(
        1, wipe() + format("  %-8s %s: %zu faults, %.1f ms\n", e.ok() ? "kept" : "BROKEN",
                           asked(e.number).name.c_str(), e.faults, seconds_of(e.took) * 1e3));
  else if (shows_progress() && done_ % 16 == 0)
    console::write_to(
        1, wipe() + format("%llu of %llu, %zu broken", ull(done_), ull(count()), failures_.size()));
  return e.ok() || o_.keeps_going;
}

void sweep::play() {
  chaos::isolated_runs runs;
  runs.first = o_.random ? o_.seeds->first : 0;
  runs.last = runs.first + count() - 1;
  runs.at_once = o_.jobs > 0 ? o_.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (o_.where != chaos::target::in_virtual_time) {
    runs.at_once = 1;  // they share the machine's processors, and its time
    runs.patience = std::chrono::hours(2);
  }
  runs.run = [this](std::uint64_t number) -> result<chaos::run_outcome> {
    const auto a = asked(number);
    if (o_.where != chaos::target::in_virtual_time) return run_for_real(a, number);
    auto once = chaos::run_in_virtual_time(a.scenario, {});
    // Now and then the same again: a run is a function of its files and its seed alone.
    constexpr std::uint64_t again_every = 16;
    if (!once || !once->ok() || (o_.random && number % again_every != 0)) return once;
    const auto twice = chaos::run_in_virtual_time(a.scenario, {});
    if (twice && twice->digest != once->digest)
      once->violations.push_back(
          {"a run is a function of its files and its seed",
           "the same run again went otherwise: " + once->digest + ", " + twice->digest,
           {}});
    return once;
  };
  runs.on_end = [this](const chaos::brief_outcome& e) { return on_end(e); };
  chaos::run_isolated(runs);
}

// Time passes as it does, and nothing comes twice the same way: what is to be shown of a run is
// shown at once.
result<chaos::run_outcome> sweep::run_for_real(const asked_run& a, std::uint64_t number) const {
  const auto folder = std::filesystem::temp_directory_path().string() +
                      format("/troupe-chaos-%d-%llu", static_cast<int>(::getpid()), ull(number));
  auto outcome = o_.where == chaos::target::in_one_process
                     ? chaos::run_in_one_process(a.scenario, folder)
                     : chaos::run_on_processes(
                           a.scenario, {std::filesystem::read_symlink("/proc/self/exe").string(),
                                        folder, false});
  if (!outcome) return outcome;
  const auto& m = outcome->metrics;
  std::vector<duration> recoveries = outcome->recoveries;
  std::sort(recoveries.begin(), recoveries.end());
  const auto part = [&](double of) {
    return recoveries.empty() ? 0.0
                              : seconds_of(recoveries[static_cast<std::size_t>(
                                    of * static_cast<double>(recoveries.size() - 1))]);
  };
  console::write_to(
      1, format("  %zu faults; every slot had gone on after %.2f s (median), %.2f s (nine of "
                "ten), %.2f s (longest)\n",
                outcome->faults_struck(), part(0.5), part(0.9), part(1)));
  if (m.count("most_bytes_more"))
    console::write_to(
        1, format("  at its end no process held more than %.1f MB and %.0f descriptors more "
                  "than at its begin\n",
                  m.at("most_bytes_more") * 1e-6, m.at("most_descriptors_more")));
  const auto text = chaos::timeline_text(titled(a), *outcome);
  if (!o_.timeline.empty()) {
    const bool html =
        o_.timeline.size() > 5 && o_.timeline.substr(o_.timeline.size() - 5) == ".html";
    if (auto w = write_text_atomically(*files_, o_.timeline,
                                       html ? chaos::timeline_page(titled(a), *outcome) : text);
        !w)
      return w.failure();
  }
  if (!outcome->ok()) console::write_to(1, text + "  left for a look: " + folder + "\n");
  return outcome;
}

// The history that shows it, and the smallest scenario that still does.
void sweep::look_closer(const chaos::brief_outcome& failed) {
  const auto a = asked(failed.number);
  const auto headline = format("\n%s, %s (%s)\nreplay: %s\n", titled(a).c_str(), build_version(),
                               build_commit(), a.replay.c_str());
  console::write_to(1, headline + "\nBROKEN: " + failed.first->promise + "\n  " +
                           failed.first->text +
                           format("\n  at %.3f ms, after %zu faults\n",
                                  static_cast<double>(failed.first->at.ns) * 1e-6, failed.faults));
  if (o_.where != chaos::target::in_virtual_time) return console::write_to(1, headline);
  auto smallest = chaos::made_explicit(a.scenario);
  const auto breaks = [&](const config::Scenario& s) {
    const auto again = chaos::run_isolated([&] { return chaos::run_in_virtual_time(s, {}); });
    return !again.ok() && again.first->promise == failed.first->promise;
  };
  std::size_t runs = 0;
  if (o_.shrinks) {
    if (!breaks(smallest)) smallest = a.scenario;
    chaos::shrinking how;
    how.breaks = breaks;
    smallest = chaos::shrink(smallest, how, &runs);
    smallest.mutable_scenario()->set_threatens(failed.first->promise);
    const auto path = o_.out + "/" +
                      (o_.random ? format("seed-%llu", ull(failed.number))
                                 : std::filesystem::path(a.name).stem().string()) +
                      ".toml";
    auto written = files_->create_folders(o_.out);
    if (written)
      written =
          write_text_atomically(*files_, path, "# " + a.replay + "\n" + config::to_toml(smallest));
    if (written)
      console::write_to(
          1,
          format("\nshrunk in %zu runs from %d to %d faults: %s\nreplay: troupe chaos %s\n", runs,
                 a.scenario.faults_size(), smallest.faults_size(), path.c_str(), path.c_str()));
    else
      console::write_to(2, "troupe: " + written.failure().text + "\n");
  }
  // A run that crashes has no history to show.
  if (failed.first->promise != "the program does not crash" &&
      failed.first->promise != "every run ends")
    if (const auto outcome = chaos::run_in_virtual_time(smallest, {})) {
      constexpr std::size_t most = 6000;
      auto text = chaos::timeline_text("history:", *outcome);
      if (text.size() > most) text = "...\n" + text.substr(text.find('\n', text.size() - most) + 1);
      console::write_to(1, "\n" + text);
    }
  console::write_to(1, headline);
}

result<void> sweep::write_files(double took) const {
  if (!o_.junit.empty())
    if (auto w = write_text_atomically(*files_, o_.junit, chaos::junit_xml(cases_)); !w) return w;
  if (!o_.json.empty()) {
    std::vector<json> cells, broken;
    for (const auto& [cell, n] : covered_) {
      console::json_object c;
      c.add("fault", json::of(chaos::facts_of(cell.first).name));
      c.add("state", json::of(cell.second));
      c.add("count", json::of(n));
      cells.push_back(c.value());
    }
    console::json_object filters;
    for (const auto& [name, n] : filters_) filters.add(name, json::of(n));
    for (const auto& f : failures_) {
      console::json_object b;
      b.add("run", json::of(asked(f.number).name));
      b.add("replay", json::of(asked(f.number).replay));
      b.add("promise", json::of(f.first->promise));
      b.add("text", json::of(f.first->text));
      broken.push_back(b.value());
    }
    console::json_object page;
    page.add("build", json::of(build_version()));
    page.add("commit", json::of(build_commit()));
    page.add("target", json::of(chaos::to_string(o_.where)));
    page.add("runs", json::of(done_));
    page.add("violations", json::array(broken));
    page.add("faults", json::of(faults_));
    page.add("faults_left_out", json::of(withheld_));
    page.add("pushes", json::of(pushes_));
    page.add("cluster_seconds", json::of(seconds_of(virtual_time_)));
    page.add("wall_seconds", json::of(took));
    page.add("coverage", json::array(cells));
    page.add("filters", filters.value());
    if (auto w = write_text_atomically(*files_, o_.json, page.page()); !w) return w;
  }
  if (!o_.timeline.empty() && o_.where == chaos::target::in_virtual_time) {
    const auto number = !failures_.empty() ? failures_.front().number
                        : o_.random        ? o_.seeds->first
                                           : 0;
    const auto a = asked(number);
    const auto outcome = chaos::run_in_virtual_time(a.scenario, {});
    if (!outcome) return outcome.failure();
    const bool html =
        o_.timeline.size() > 5 && o_.timeline.substr(o_.timeline.size() - 5) == ".html";
    const auto text = html ? chaos::timeline_page(titled(a), *outcome)
                           : chaos::timeline_text(titled(a), *outcome);
    if (auto w = write_text_atomically(*files_, o_.timeline, text); !w) return w;
  }
  return {};
}

int sweep::conclude(double took) {
  const auto thin = o_.random && o_.least_coverage > 0
                        ? chaos::thin_cells(covered_, o_.least_coverage)
                        : std::vector<chaos::cell>();
  const auto thin_filters = o_.random && o_.least_coverage > 0
                                ? chaos::thin_filters(filters_, o_.least_coverage)
                                : std::vector<std::string>();
  if (o_.random && count() > 1)
    console::write_to(
        1, "\n" + chaos::coverage_table(covered_) + "\n" + chaos::filters_line(filters_) + "\n");
  console::write_to(
      1, format("%llu runs, %zu broken: %llu faults (%llu left out), %llu pushes, %.1f s of the "
                "cluster's time in %.1f s, %.0f runs a minute\n",
                ull(done_), failures_.size(), ull(faults_), ull(withheld_), ull(pushes_),
                seconds_of(virtual_time_), took, static_cast<double>(done_) / took * 60));
  for (const auto& c : thin)
    console::write_to(1,
                      format("not covered: %s while %s\n", chaos::facts_of(c.kind).name, c.state));
  for (const auto& name : thin_filters)
    console::write_to(1, "not covered: the filter " + name + " under a fault\n");
  if (const auto written = write_files(took); !written) return report(written.failure());
  if (!failures_.empty()) {
    std::sort(failures_.begin(), failures_.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    for (const auto& f : failures_)
      console::write_to(1, "broken: " + asked(f.number).replay + "\n        " + f.first->promise +
                               ": " + f.first->text + "\n");
    look_closer(failures_.front());
  }
  return failures_.empty() && thin.empty() && thin_filters.empty() ? exit_done : exit_failed;
}

}  // namespace

int run_chaos(const chaos_options& options) {
  return sweep(options).run();
}

}  // namespace troupe
