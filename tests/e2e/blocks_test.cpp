// Delayed block proximal gradient: it finds the minimum, whoever takes part and whatever goes
// wrong.
#include <cmath>
#include <sstream>

#include "tests/e2e/workplace.hpp"
#include "tests/support/real_data.hpp"

using namespace troupe::testing;

namespace {

// 2,000 rows, 300 features, 10 to a row.
void solve_by_blocks(const workplace& here) {
  here.write("job.toml",
             read_file(here / "job.toml") +
                 "[training.updater]\nl1 = 1\n[solver]\nname = \"blocks\"\nby = \"range\"\n"
                 "count = 16\ncheck_every = 5\nobjective_tolerance = 0\n");
}

double nonzeros_of(const result_page& done) {
  double sum = 0;
  for (const auto& table : done.value("tables").list_value().values())
    sum += table.struct_value().fields().at("nonzeros").number_value();
  return sum;
}

// `troupe`, where a job file finds the data it names.
program_end with_real_data(const workplace& here, const words& arguments) {
  program_place place;
  place.folder = here.path();
  place.deadline = std::chrono::seconds(300);
  place.environment = {{"TROUPE_DATA", real_data_root()}};
  return run_program(words{TROUPE_BINARY} + arguments, place);
}

const words long_run = set("training.epochs=200") + set("solver.objective_tolerance=1e-9");

}  // namespace

TEST_CASE(
    "blocks and minibatches have one minimum, which no order of blocks and no delay changes") {
  const workplace here;
  solve_by_blocks(here);
  const double best = here.train(long_run + set("model.output=\"\"")).number("objective");
  CHECK(best > 0);
  for (const auto& how :
       {set("job.seed=5"), set("solver.order=ascending"), set("solver.by=exclusive"),
        set("solver.count=1"), set("training.staleness=4"), set("training.staleness=15"),
        set("solver.filter=kkt"), set("cluster.slots=5"), set("model.value_type=f64")}) {
    INFO(how[1]);
    const auto done = here.train(long_run + how + set("model.output=\"\""));
    CHECK(done.number("objective") == doctest::Approx(best).epsilon(1e-4));
    CHECK(done.number("objective") >= best * (1 - 1e-6));
    CHECK(done.number("largest_violation") < 0.1);
  }
}

TEST_CASE("the squared loss and an l2 penalty alone are minimised too") {
  const workplace here;
  solve_by_blocks(here);
  for (const auto& how :
       {set("model.loss=squared"), set("training.updater.l1=0") + set("training.updater.l2=1"),
        set("model.loss=squared_hinge") + set("training.updater.l2=0.5")}) {
    INFO(how[1]);
    const auto by_blocks = here.train(long_run + how + set("model.output=\"\""));
    const auto in_one =
        here.train(long_run + how + set("solver.count=1") + set("model.output=\"\""));
    CHECK(by_blocks.number("objective") ==
          doctest::Approx(in_one.number("objective")).epsilon(1e-4));
    CHECK(by_blocks.number("largest_violation") < 0.2);
  }
}

TEST_CASE("the model is the same for any cluster, under crashes, and with a delay as well") {
  for (const std::string delay : {"0", "3"}) {
    const workplace here;
    solve_by_blocks(here);
    const auto all = here.train_all(
        {set("training.staleness=" + delay),
         set("training.staleness=" + delay) + words{"--workers", "4", "--servers", "3"},
         set("training.staleness=" + delay) + words{"--servers", "1"},
         set("training.staleness=" + delay) + words{"--clock", "virtual"}});
    for (const auto& one : all) CHECK(one.digest() == all[0].digest());
    if (delay != "0") continue;
    here.amend(
        "[[debug.throws]]\nslot = 1\nclock = 7\n[[debug.throws]]\nslot = 0\nclock = 20\n"
        "where = \"between_sends\"\n[[debug.repeat_push]]\nslot = 2\nclock = 9\n");
    const auto troubled = here.train(set("training.staleness=0"));
    CHECK(troubled.digest() == all[0].digest());
    CHECK(troubled.number("restarts") == 2);
  }
}

TEST_CASE(
    "a path of penalties begins each from the model before, and ends where the last alone does") {
  const workplace here;
  solve_by_blocks(here);
  const auto alone = here.train(long_run);
  const auto path = here.train(set("training.epochs=600") + set("solver.objective_tolerance=1e-8") +
                               set("solver.lambda=[20, 5, 1]"));
  CHECK(path.number("objective") == doctest::Approx(alone.number("objective")).epsilon(1e-5));
  CHECK(path.value("converged").bool_value());
  std::istringstream history(read_file(here / "model/history.jsonl"));
  std::vector<double> nonzeros;
  for (std::string line; std::getline(history, line);) {
    const result_page page(line);
    if (page.value("arrived").bool_value()) nonzeros.push_back(page.number("nonzeros"));
  }
  REQUIRE(nonzeros.size() >= 3);
  CHECK(nonzeros[0] < nonzeros[1]);
  CHECK(nonzeros[1] < nonzeros[2]);
}

TEST_CASE("what does not go with the block solver is refused by name") {
  const workplace here;
  solve_by_blocks(here);
  const auto refused = [&](const words& how, const words& told) {
    check_refused(here.sim(how), told);
  };
  refused(set("training.staleness=17"),
          {"training.staleness is 17", "17 blocks"});  // with the bias
  refused(set("training.staleness=unbounded"), {"training.staleness", "bound"});
  refused(set("training.combine=mean"), {"training.combine", "adds up"});
  refused(set("training.updater.name=ftrl"), {"training.updater", "ftrl"});
  refused(set("evaluation.every=1"), {"evaluation.every", "solver.check_every"});
  refused(set("training.updater.l1=0") + set("solver.filter=kkt"), {"solver.filter", "l1"});
  refused(set("solver.by=group"), {"solver.by", "field"});
  refused(set("filters.push=[\"zstd levle=3\"]"), {"zstd", "levle"});
  refused(set("filters.push=[\"zstd\", \"fixed8\"]"), {"fixed8", "must stand before"});
}

TEST_CASE("the minimum is found on real data, as liblinear has it, with L1 and with L2") {
  struct {
    const char* name;
    double l1_optimum, nonzeros, violation_at_zero, l2_optimum;
    words how;
  } const sets[] = {
      {"a9a", 10558.723373, 96, 8759.5, 10529.562585,
       set("solver.count=1") + set("solver.by=range") + set("training.epochs=1500") +
           set("solver.objective_tolerance=5e-7")},
      {"w8a", 4852.895603, 231, 6660, 5019.723016, set("solver.count=64")},
      {"rcv1-small", 580.794043, 41, 3.817663, 476.813835, set("solver.count=64")},
      {"criteo8k", 2817.207453, 1445, 1714, 1540.933424, set("solver.count=64")},
      {"criteo20k", 4377.792256, 2158, 2048, 2701.402169, set("solver.by=exclusive")}};
  for (const auto& one : sets) {
    const auto data = real_data(one.name);
    if (!data) {
      MESSAGE("skipped: TROUPE_DATA names no folder with ", one.name);
      continue;
    }
    INFO(one.name);
    const workplace here;
    here.write("job.toml", "[data]\ntrain = \"" + *data +
                               "/train.svm.xz\"\ncache = \"cache\"\n"
                               "[model]\nbias = false\noutput = \"\"\n[training]\nepochs = 300\n"
                               "[solver]\nname = \"blocks\"\n"
                               "check_every = 10\nobjective_tolerance = 2e-6\n"
                               "[cluster]\nworkers = 2\nservers = 1\nslots = 2\n");
    const auto done = here.train(one.how + set("training.updater.l1=1"));
    CHECK(done.number("objective") <= one.l1_optimum * 1.0001);
    CHECK(done.number("objective") >= one.l1_optimum * (1 - 1e-6));
    CHECK(nonzeros_of(done) <= 1.05 * one.nonzeros);
    CHECK(done.number("largest_violation") <= 1e-3 * one.violation_at_zero);
    const auto smooth = here.train(one.how + set("training.updater.l2=1"));
    CHECK(smooth.number("objective") <= one.l2_optimum * 1.0001);
    CHECK(smooth.number("objective") >= one.l2_optimum * (1 - 1e-6));
  }
}

TEST_CASE("the job files of L1 logistic regression end at the minimum, as they stand") {
  struct {
    const char* name;
    double optimum, nonzeros, violation_at_zero;
  } const jobs[] = {{"a9a", 10558.723373, 96, 8759.5}, {"criteo20k", 4377.792256, 2158, 2048}};
  for (const auto& one : jobs) {
    if (!real_data(one.name)) {
      MESSAGE("skipped: TROUPE_DATA names no folder with ", one.name);
      continue;
    }
    INFO(one.name);
    const workplace here;
    const auto end = with_real_data(
        here, words{"sim", TROUPE_SOURCE_DIR "/config/" + std::string(one.name) + "-l1.toml",
                    "--json", "result.json"} +
                  set("model.output=\"\"") + set("data.cache=cache"));
    INFO(end.out, end.err);
    REQUIRE(end.exit_code == 0);
    const result_page done(read_file(here / "result.json"));
    CHECK(done.value("converged").bool_value());
    CHECK(done.number("objective") <= one.optimum * 1.0001);
    CHECK(nonzeros_of(done) <= 1.05 * one.nonzeros);
    CHECK(done.number("largest_violation") <= 1e-3 * one.violation_at_zero);
  }
}

TEST_CASE("real data: under faults the block solver comes to the very bits of a run without") {
  if (!real_data("a9a")) {
    MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
    return;
  }
  const workplace here;
  const auto end =
      with_real_data(here, {"chaos", TROUPE_SOURCE_DIR "/config/chaos/real/a9a-blocks.toml"});
  INFO(end.out, end.err);
  CHECK(end.exit_code == 0);
  CHECK(contains(end.out, "3 faults (0 left out)"));
}
