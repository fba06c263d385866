// What job files train, while faults strike: the block solver and minibatches, in virtual time.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "apps/chaos/draw.hpp"
#include "apps/chaos/fault_kinds.hpp"
#include "apps/chaos/isolated.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "apps/chaos/workload/workload.hpp"
#include "core/random.hpp"
#include "tests/support/scenarios.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::chaos;
using troupe::testing::broken;
using troupe::testing::parsed_scenario;
using troupe::testing::temporary_folder;

namespace {

// 240 rows of 8 of 60 features, which a sparse true model labels; a job beside them.
class place_of_jobs {
 public:
  place_of_jobs() {
    random_source random(3);
    std::ofstream out(folder_.path() + "/rows.svm");
    for (int i = 0; i < 240; ++i) {
      double score = 0;
      std::string features;
      for (std::uint64_t j = random.below(8); j < 60; j += 1 + random.below(14)) {
        if (j % 3 == 0) score += unit_interval(seed_of(7, j)) * 6 - 3;
        features += " " + std::to_string(j + 1) + ":1";
      }
      out << (random.unit() < 1 / (1 + std::exp(-score)) ? "+1" : "-1") << features << '\n';
    }
  }
  std::string job(const std::string& text, const std::string& of_data = "") const {
    const auto path = folder_.path() + "/job.toml";
    std::ofstream(path) << "[data]\ntrain = \"rows.svm\"\n"
                        << of_data << "[model]\noutput = \"\"\n"
                        << text;
    return path;
  }

 private:
  temporary_folder folder_;
};

std::string blocks(int tau, const std::string& more) {
  return "[training]\nepochs = 40\nstaleness = " + std::to_string(tau) +
         "\n[training.updater]\nl1 = 0.5\n[solver]\nname = \"blocks\"\nby = \"range\"\ncount = 8\n"
         "check_every = 4\nobjective_tolerance = 1e-6\n" +
         more;
}

// Every one of these seeds, with the job for a workload.
void check_seeds(const std::string& job, std::uint64_t first, std::uint64_t last,
                 std::size_t least_faults) {
  isolated_runs runs;
  runs.first = first;
  runs.last = last;
  runs.at_once = 2;
  runs.run = [&](std::uint64_t seed) { return run_in_virtual_time(draw(seed, job), {}); };
  std::size_t faults = 0, ended = 0;
  runs.on_end = [&](const brief_outcome& e) {
    INFO("seed ", e.number);
    CHECK((e.ok() ? std::string() : e.first->promise + ": " + e.first->text) == "");
    faults += e.faults;
    ++ended;
    return true;
  };
  run_isolated(runs);
  CHECK(ended == last - first + 1);
  CHECK(faults >= least_faults);
}

}  // namespace

TEST_CASE("the block solver under random faults comes to the very bits of a run without") {
  const place_of_jobs here;
  // A path of penalties, and what the KKT filter goes by, must survive whatever the cluster does.
  check_seeds(here.job(blocks(0, "filter = \"kkt\"\nlambda = [2, 0.5]\n")), 1, 40, 60);
}

TEST_CASE("with a delay, workers that die cost the block solver no more than a little") {
  const place_of_jobs here;
  check_seeds(here.job(blocks(3, "")), 1, 25, 40);
}

TEST_CASE("minibatches through lossy filters come to the very bits of a run without faults") {
  const place_of_jobs here;
  check_seeds(here.job("[training]\nepochs = 4\nminibatch = 8\n[filters]\npush = [\"fixed8\", "
                       "\"random_skip skip=0.2\"]\npull = [\"bf16\", \"key_cache\"]\n"),
              1, 120, 200);
}

// What was measured lies in checkpoints: without it this goes by other stages after the power cut,
// and stops elsewhere.
TEST_CASE("a cluster that goes on from a checkpoint goes on by what had been measured") {
  const place_of_jobs here;
  for (const auto* solving : {"filter = \"kkt\"\n", "lambda = [4, 0.5]\n", ""})
    // In the middle of the run, and, since the model is measured before every 32nd clock, at any
    // distance from that.
    for (const int at : {21, 33, 47, 60, 77, 93}) {
      auto s = parsed_scenario(
          "[cluster]\nservers = 2\nworkers = 1\nslots = 1\ncheckpoint_every = 4\n"
          "[workload]\nkind = \"job\"\njob = \"" +
          here.job(blocks(0, solving)) + "\"\nrestore_at = [\"" + std::to_string(at) +
          " ms\"]\n[expect]\nleast_faults = 0\n");
      INFO(solving, at);
      CHECK(broken(run_in_virtual_time(s, {})) == "");
    }
}

TEST_CASE("early stopping, too, goes on from a checkpoint with what it knew") {
  const place_of_jobs here;
  const auto job = here.job(
      "[training]\nepochs = 12\nminibatch = 8\n[training.updater]\nrate = 0.5\n"
      "[evaluation]\nevery = 0.5\npatience = 2\n",
      "validation_fraction = 0.2\n");
  for (const int at : {20, 30, 40, 50}) {
    auto s = parsed_scenario(
        "[cluster]\nservers = 2\nworkers = 1\nslots = 1\ncheckpoint_every = 4\n"
        "[workload]\nkind = \"job\"\njob = \"" +
        job + "\"\nrestore_at = [\"" + std::to_string(at) + " ms\"]\n[expect]\nleast_faults = 0\n");
    INFO(at);
    CHECK(broken(run_in_virtual_time(s, {})) == "");
  }
}

TEST_CASE("a scenario's filters take the place of its job's") {
  const place_of_jobs here;
  const auto with = [&](const std::string& filters) {
    auto s = parsed_scenario("[workload]\nkind = \"job\"\njob = \"" +
                             here.job("[training]\nepochs = 2\nminibatch = 8\n[filters]\npush = "
                                      "[\"fixed8\"]\n") +
                             "\"\n" + filters + "[expect]\nleast_faults = 0\n");
    auto made = make_workload(s);
    REQUIRE(made.ok());
    const std::shared_ptr<const workload> what = std::move(*made);
    CHECK(broken(run_in_virtual_time(s, {})) == "");
    const auto table = what->parts(s, nullptr, 0).job.plan.tables(0);
    std::string names;
    for (const auto& f : table.push_filters()) names += f.name() + " ";
    return names;
  };
  CHECK(with("") == "fixed8 ");
  CHECK(with("[filters]\npush = [\"value_delta\", \"key_cache\"]\n") == "value_delta key_cache ");
}

TEST_CASE("a job that a scenario cannot use is refused, and it is said why") {
  const place_of_jobs here;
  const auto why = [&](const std::string& job) {
    const auto s = parsed_scenario("[workload]\nkind = \"job\"\njob = \"" + job + "\"\n");
    const auto o = run_in_virtual_time(s, {});
    return o ? std::string() : o.failure().text;
  };
  CHECK(why("/nowhere.toml").find("/nowhere.toml") != std::string::npos);
  CHECK(why(here.job("app = \"external\"\n")).find("model.app") != std::string::npos);
  CHECK(why(here.job("[training]\nepochs = -1\n")).find("training.epochs") != std::string::npos);
  const auto text = [](const std::string& workload) {
    const auto s = config::parse_scenario("[workload]\n" + workload, "test", all_words());
    return s ? std::string() : s.failure().text;
  };
  CHECK(text("kind = \"job\"\n").find("needs a job file") != std::string::npos);
  CHECK(text("job = \"x.toml\"\n").find("only kind = job") != std::string::npos);
}
