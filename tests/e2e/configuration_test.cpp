// Job files with mistakes in them.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

TEST_CASE("a mistake in a job file is told with its place and what would be right") {
  struct {
    std::string text;
    words told;
  } const cases[] = {
      {"[training]\nepohcs = 3\n", {"bad.toml:2:1: ", "epohcs", "epochs"}},
      {"[trainning]\n", {"bad.toml:1:", "trainning", "training"}},
      {"[cluster]\npatience = \"3 parsecs\"\n", {"bad.toml:2:", "cluster.patience", "parsecs"}},
      {"[cluster]\npatience = 3\n", {"bad.toml:2:", "cluster.patience"}},
      {"[data]\nmax_line = \"1 min\"\n", {"bad.toml:2:", "data.max_line"}},
      {"[training]\nepochs = 0\n", {"bad.toml:2:", "training.epochs", "1"}},
      {"[training]\nepochs = \"many\"\n", {"bad.toml:2:", "training.epochs"}},
      {"[training]\nstaleness = \"boundless\"\n", {"bad.toml:2:", "unbounded"}},
      {"[training]\nstaleness = -1\n", {"bad.toml:2:", "training.staleness"}},
      {"[model]\nloss = \"logistics\"\n", {"bad.toml:2:", "logistic"}},
      {"[cluster]\nworkers = 5\nslots = 4\n", {"cluster.workers", "slots"}},
      {"[[debug.throws]]\nslot = 4\n", {"debug.throws", "slot 4"}},
      {"[training\n", {"bad.toml:1:"}},
      {"[tables.wieghts]\ncombine = \"sum\"\n", {"wieghts", "weights"}},
  };
  const workplace here;
  for (const auto& c : cases) {
    INFO(c.text);
    here.write("bad.toml", c.text + (c.text.find("[data]") == 0 ? "" : "[data]\n") + "train = \"" +
                               synthetic_data() / "train.svm" + "\"\n");
    check_refused(here.troupe({"sim", "bad.toml", "--set", "model.output=\"\""}), c.told);
    check_refused(here.troupe({"config", "bad.toml"}), c.told);
  }
}

TEST_CASE("a mistake in an override names the override") {
  const workplace here;
  check_refused(here.sim(set("training.epohcs=3")), {"training.epohcs", "epochs"});
  check_refused(here.sim(set("training.epochs=many")), {"training.epochs"});
  check_refused(here.sim(set("training.epochs")), {"training.epochs"});
  check_refused(here.sim({"--workers", "none"}), {"cluster.workers"});
  check_refused(here.sim({"--workers", "-1"}), {"cluster.workers"});
  check_refused(here.sim({"--seed", "x"}), {"job.seed"});
}

TEST_CASE("a server function that nobody registered is refused before training") {
  const workplace here;
  check_refused(here.sim(set("training.updater.name=adma")), {"updater", "'adma'"});
}

TEST_CASE("all mistakes are told at once") {
  const workplace here;
  here.write("bad.toml", "[training]\nepohcs = 3\nminibatch = 0\n");
  check_refused(here.troupe({"sim", "bad.toml"}), {"bad.toml:2:1: ", "bad.toml:3:", "data.train"});
}

TEST_CASE("a job file that is missing, a folder, or binary is refused") {
  const workplace here;
  check_refused(here.troupe({"sim", "missing.toml"}), {"missing.toml", "No such file"});
  check_refused(here.troupe({"sim", "."}), {"troupe: "});
  here.write("binary.toml", std::string("\0\1\2\xff\xfe", 5));
  check_refused(here.troupe({"sim", "binary.toml"}), {"binary.toml:1:"});
  here.write("empty.toml", "");
  check_refused(here.troupe({"sim", "empty.toml"}), {"data.train"});
}

TEST_CASE("the log goes where it was told to, at the level of each component") {
  const workplace here;
  here.amend("[[debug.throws]]\nslot = 0\nclock = 1\n");
  const auto quiet = here.train(set("log.level=off"));
  CHECK(quiet.end.err.empty());
  CHECK(contains(here.train().end.err, "supervisor: worker 0 died"));
  CHECK(here.train(set("log.file=troupe.log")).end.err.empty());
  CHECK(contains(read_file(here / "troupe.log"), "supervisor: worker 0 died"));
  check_refused(here.sim(set("log.components.wroker=debug")), {"wroker", "worker"});
}
