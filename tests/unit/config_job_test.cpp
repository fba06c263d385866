#include <doctest/doctest.h>
#include <google/protobuf/util/message_differencer.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "config/job.hpp"
#include "tests/support/temporary_folder.hpp"

namespace troupe::config {

namespace {

Job good(const std::string& text, const overrides& set = {}) {
  auto job = parse_job("data.train = 'a.svm'\n" + text, "job.toml", set);
  if (!job) FAIL(job.failure().text);
  return *std::move(job);
}

// Of a file whose first line is "data.train = 'a.svm'".
std::string fault(const std::string& text, const overrides& set = {}) {
  const auto job = parse_job("data.train = 'a.svm'\n" + text, "job.toml", set);
  if (job) return "no error";
  CHECK(job.failure().code == errc::bad_config);
  return job.failure().text;
}

bool same(const Job& a, const Job& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

void write(const std::string& path, const std::string& text) {
  REQUIRE(write_text_atomically(*posix_file_system(), path, text));
}

}  // namespace

TEST_CASE("what a job leaves out has its default") {
  const auto job = good("");
  CHECK(job.data().train(0) == "a.svm");
  CHECK(job.data().test_size() == 0);
  CHECK(job.data().format() == "libsvm");
  CHECK(job.training().staleness() == 0);
  CHECK(job.training().epochs() == 5);
  CHECK(job.training().minibatch() == 100);
  CHECK(job.training().updater().name() == "adagrad");
  CHECK(job.training().updater().schedule().name() == "constant");
  CHECK(job.cluster().workers() == 2);
  CHECK(job.cluster().slots() == 4);
  CHECK(job.cluster().hold() == 1'000'000'000);
  CHECK(job.data().block_size() == 32 << 20);
  CHECK(job.data().cache() == ".troupe-cache");
  CHECK(bulk_synchronous(job));
}

TEST_CASE("values are read in all their spellings") {
  CHECK(good("[training]\nstaleness = 'unbounded'").training().staleness() == unbounded);
  CHECK(good("[training]\nstaleness = 7").training().staleness() == 7);
  CHECK(good("data.test = ['b.svm', 'c.svm']").data().test(1) == "c.svm");
  CHECK(good("data.test = 'b.svm'").data().test(0) == "b.svm");
  CHECK(good("data.block_size = 65536").data().block_size() == 65536);
  CHECK(good("data.block_size = '1.5 MB'").data().block_size() == 1'500'000);
  CHECK(good("cluster.patience = '1.5 h'").cluster().patience() == 5'400'000'000'000);
  CHECK(good("data.positive_label = 'auto'").data().positive_label() == "auto");
  CHECK(good("data.positive_label = -1").data().positive_label() == "-1");
  CHECK(good("data.positive_label = 0.5").data().positive_label() == "0.5");
  CHECK(good("training.updater.rate = 1").training().updater().rate() == 1.0);
  CHECK(good("job.seed = 9223372036854775807").job().seed() == 9223372036854775807u);
  CHECK(good("log.components = {worker = 'debug'}").log().components().at("worker") == "debug");
}

TEST_CASE("text in place of a section names what the section is about") {
  const auto job = good("[training]\nupdater = 'ftrl'\n[model]\ninitialiser = 'normal'");
  CHECK(job.training().updater().name() == "ftrl");
  CHECK(job.training().updater().alpha() == 0.1);
  CHECK(job.model().initialiser().kind() == "normal");
  CHECK(good("training.updater = {name = 'sgd', schedule = 'step'}")
            .training()
            .updater()
            .schedule()
            .name() == "step");
}

TEST_CASE("feature keys have all of 64 bits") {
  const auto range = [](const std::string& last) {
    return good("[tables.weights]\nfirst = 0\nlast = " + last).tables().at("weights").last();
  };
  CHECK(range("9223372036854775807") == 9223372036854775807u);
  CHECK(range("'18446744073709551615'") == 18446744073709551615u);
  CHECK(range("'0xffffffffffffffff'") == 18446744073709551615u);
}

TEST_CASE("faults of a job file are named with their place, and with what was probably meant") {
  const struct {
    const char* text;
    const char* why;
  } table[] = {
      // unknown keys
      {"[training]\n  minibach = 5",
       "job.toml:3:3: training.minibach: unknown key; did you mean training.minibatch?"},
      {"[trainig]\nepochs = 1", "job.toml:2:2: trainig: unknown key; did you mean training?"},
      {"epochs = 3", "job.toml:2:1: epochs: unknown key; did you mean training.epochs?"},
      {"[training]\nrate = 0.1",
       "job.toml:3:1: training.rate: unknown key; did you mean training.updater.rate?"},
      {"[training]\nxyzzy = 0.1", "job.toml:3:1: training.xyzzy: unknown key"},
      {"[tables.bias.updater]\nrat = 1",
       "job.toml:3:1: tables.bias.updater.rat: unknown key; did you mean "
       "tables.bias.updater.rate?"},
      // ranges
      {"[training]\n  minibatch = 0",
       "job.toml:3:15: training.minibatch: 0 is below the smallest allowed value 1"},
      {"cluster.servers = -1",
       "job.toml:2:19: cluster.servers: -1 is below the smallest allowed value 1"},
      {"cluster.servers = 5000",
       "job.toml:2:19: cluster.servers: 5000 is above the largest allowed value 4096"},
      {"training.staleness = -1",
       "job.toml:2:22: training.staleness: -1 is below the smallest allowed value 0"},
      {"training.updater.rate = 0",
       "job.toml:2:25: training.updater.rate: 0 is not allowed: it must be above 0"},
      {"training.updater.beta1 = 1.0",
       "job.toml:2:26: training.updater.beta1: 1 is not allowed: it must be below 1"},
      {"training.updater.l2 = -0.5",
       "job.toml:2:23: training.updater.l2: -0.5 is below the smallest allowed value 0"},
      {"cluster.hold = '0 s'",
       "job.toml:2:16: cluster.hold: 0 s is below the smallest allowed value 1 ms"},
      {"data.block_size = '2 GiB'",
       "job.toml:2:19: data.block_size: 2 GiB is above the largest allowed value 1 GiB"},
      {"data.block_size = -5",
       "job.toml:2:19: data.block_size: -5 is below the smallest allowed value 4 KiB"},
      // types
      {"training.epochs = 2.5",
       "job.toml:2:19: training.epochs: expected a whole number, found 2.5"},
      {"training.epochs = '2'",
       "job.toml:2:19: training.epochs: expected a whole number, found text '2'"},
      {"training.epochs = [2]",
       "job.toml:2:19: training.epochs: expected a whole number, found a list"},
      {"data.shuffle = 1", "job.toml:2:16: data.shuffle: expected true or false, found 1"},
      {"data.format = 5", "job.toml:2:15: data.format: expected text in quotes, found 5"},
      {"data.format = 2020-01-01",
       "job.toml:2:15: data.format: expected text in quotes, found a date or time"},
      {"data.test = ['x', 5]", "job.toml:2:19: data.test: expected text in quotes, found 5"},
      {"training.updater.rate = nan",
       "job.toml:2:25: training.updater.rate: nan is not a finite number"},
      {"training.updater.rate = inf",
       "job.toml:2:25: training.updater.rate: inf is not a finite number"},
      {"training = 5", "job.toml:2:12: training: expected a section [training], found 5"},
      {"log.components = 'debug'",
       "job.toml:2:18: log.components: expected a section [log.components], found text 'debug'"},
      {"data.positive_label = 'one'",
       "job.toml:2:23: data.positive_label: 'one' is not a number (without quotes) or auto"},
      {"data.positive_label = 9007199254740993",
       "job.toml:2:23: data.positive_label: 9007199254740993 is too large to be held exactly; "
       "labels end at 2^53"},
      {"[tables.weights]\nfirst = '1x'\nlast = 5",
       "job.toml:3:9: tables.weights.first: '1x' is not a whole number from 0 to 2^64-1"},
      {"[tables.weights]\nfirst = -1\nlast = 5",
       "job.toml:3:9: tables.weights.first: expected a key: a whole number from 0 to 2^64-1, above "
       "2^63-1 in quotes, "
       "found -1"},
      // units
      {"cluster.hold = 5",
       "job.toml:2:16: cluster.hold: 5 has no unit; write \"5 s\" or \"5 ms\", in quotes"},
      {"cluster.hold = 5.5",
       "job.toml:2:16: cluster.hold: expected a duration such as \"2 s\", found 5.5"},
      {"cluster.hold = '5 sec'",
       "job.toml:2:16: cluster.hold: '5 sec' is not a duration; write a number and one of the "
       "units ns, us, ms, s, "
       "min, h, d"},
      {"data.max_line = 0.5",
       "job.toml:2:17: data.max_line: expected a size such as \"64 MiB\", or bytes, found 0.5"},
      // words
      {"training.combine = 'summ'",
       "job.toml:2:20: training.combine: 'summ' is not one of sum, mean or each; did you mean "
       "'sum'?"},
      {"training.staleness = 'unbound'",
       "job.toml:2:22: training.staleness: 'unbound' is not a whole number or unbounded; did you "
       "mean 'unbounded'?"},
      {"log.components.worker = 'loud'",
       "job.toml:2:25: log.components.worker: 'loud' is not one of trace, debug, info, warning, "
       "error or off"},
      // how values fit together
      {"[training]\nstaleness = 'unbounded'\ncombine = 'sum'",
       "job.toml:4:11: training.combine: 'sum' adds up the pushes of a clock, which cannot be done "
       "when staleness is "
       "unbounded; use 'each', or bound training.staleness"},
      {"[training]\nstaleness = 'unbounded'\n[tables.bias]\ncombine = 'mean'",
       "job.toml:5:11: tables.bias.combine: 'mean' adds up the pushes of a clock, which cannot be "
       "done when staleness "
       "is unbounded; use 'each', or bound training.staleness"},
      {"[cluster]\nworkers = 5",
       "job.toml:3:11: cluster.workers: 5 workers cannot share 4 slots: some would have nothing to "
       "do; lower "
       "cluster.workers, or raise cluster.slots, on which the result depends"},
      {"cluster.hold = '5 min'",
       "job.toml:2:16: cluster.hold: 5 min is longer than the 2 min of cluster.patience"},
      {"training.updater = {clip_value = 1, clip_norm = 1}",
       "job.toml:2:49: training.updater.clip_norm: gradients can be clipped by value or by norm, "
       "not by both"},
      {"[tables.wieghts]\ncombine = 'each'",
       "job.toml:2:1: tables.wieghts: the linear app has no such table; its tables are weights and "
       "bias; did you mean "
       "tables.weights?"},
      {"[tables.weights]\nfirst = 5",
       "job.toml:3:9: tables.weights.first: first and last go together"},
      {"[tables.weights]\nfirst = 5\nlast = 4",
       "job.toml:3:9: tables.weights.first: first lies above last"},
      {"[[debug.throws]]\nslot = 4",
       "job.toml:2:1: debug.throws: there is no slot 4: cluster.slots is 4, counted from 0"},
      {"[log.components]\nworkers = 'info'",
       "job.toml:3:11: log.components.workers: no component has this name; did you mean worker?"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    CHECK(fault(text) == why);
  }
}

TEST_CASE("faults of the syntax have a place too") {
  CHECK(fault("[training\nepochs = 1").rfind("job.toml:2:10: ", 0) == 0);
  CHECK(fault("training.epochs = 1\ntraining.epochs = 2").rfind("job.toml:3:1", 0) == 0);
}

TEST_CASE("all faults are reported, in the order of the file") {
  const auto job = parse_job("[cluster]\nworkers = 0\nslotz = 3\n[training]\nepochs = 'x'\n",
                             "job.toml", {"training.minibatch=0", "nothing"});
  REQUIRE_FALSE(job);
  CHECK(job.failure().text ==
        "job.toml:2:11: cluster.workers: 0 is below the smallest allowed value 1\n"
        "job.toml:3:1: cluster.slotz: unknown key; did you mean cluster.slots?\n"
        "job.toml:5:10: training.epochs: expected a whole number, found text 'x'\n"
        "--set training.minibatch=0: training.minibatch: 0 is below the smallest allowed value 1\n"
        "--set nothing: write an override as key=value, such as training.epochs=3\n"
        "job.toml: data.train: is missing, and has no default");
}

TEST_CASE("an override replaces what the file says") {
  CHECK(good("training.epochs = 2", {"training.epochs=3"}).training().epochs() == 3);
  CHECK(good("training.epochs = 2", {"training.epochs=3", " training.epochs = 4 "})
            .training()
            .epochs() == 4);
  CHECK(good("", {"training.staleness=unbounded"}).training().staleness() == unbounded);
  CHECK(good("", {"cluster.hold=20 ms"}).cluster().hold() == 20'000'000);
  CHECK(good("", {"cluster.hold='20 ms'"}).cluster().hold() == 20'000'000);
  CHECK(good("", {"training.updater.rate=1e-3"}).training().updater().rate() == 1e-3);
  CHECK(good("", {"data.train=x#y.svm"}).data().train(0) == "x#y.svm");
  CHECK(good("data.test = ['b', 'c']", {"data.test=[\"d\"]"}).data().test_size() == 1);
  CHECK(good("", {"data.train=['a', 'b']"}).data().train_size() == 2);
  CHECK(good("", {"data.positive_label=1"}).data().positive_label() == "1");
  CHECK(good("", {"tables.bias.updater.rate=0.5"}).tables().at("bias").updater().rate() == 0.5);
  CHECK(good("", {"log.components.worker=debug"}).log().components().at("worker") == "debug");
  const auto job = good("[training.updater]\nname = 'sgd'\nrate = 0.5", {"training.updater=ftrl"});
  CHECK(job.training().updater().name() == "ftrl");
  CHECK(job.training().updater().rate() == 0.5);
  const auto thrown =
      good("[[debug.throws]]\nslot = 3", {"debug.throws={slot=1, clock=2, where='between_sends'}"});
  REQUIRE(thrown.debug().throws_size() == 1);
  CHECK(thrown.debug().throws(0).clock() == 2);
  CHECK(thrown.debug().throws(0).times() == 1);
}

TEST_CASE("text in an override needs no quotes, whatever it looks like") {
  for (const auto* name : {"7", "true", "1.5", "2020-01-01", "a b", "x=y", "nan", "a, b", ""}) {
    CAPTURE(name);
    CHECK(good("", {std::string("job.name=") + name}).job().name() == name);
  }
  CHECK(good("", {"job.name='in quotes'"}).job().name() == "in quotes");
}

TEST_CASE("an override heals what is wrong in the file at its key") {
  CHECK(good("training.epochs = 'many'", {"training.epochs=3"}).training().epochs() == 3);
  CHECK(good("data.test = '${TROUPE_TEST_UNSET}/x'", {"data.test=y"}).data().test(0) == "y");
}

TEST_CASE("faults of an override name it") {
  const struct {
    const char* set;
    const char* why;
  } table[] = {
      {"training.epoch=3",
       "--set training.epoch=3: training.epoch: unknown key; did you mean training.epochs?"},
      {"training.epochs=many",
       "--set training.epochs=many: training.epochs: expected a whole number, found text 'many'"},
      {"training.epochs=",
       "--set training.epochs=: training.epochs: expected a whole number, found text ''"},
      {"epochs", "--set epochs: write an override as key=value, such as training.epochs=3"},
      {"=5", "--set =5: write an override as key=value, such as training.epochs=3"},
      {"training..epochs=5", "--set training..epochs=5: a part of the key is empty"},
      {"data.train=['a'",
       "--set data.train=['a': the value begins like TOML but is not; quote it, or leave the first "
       "character out"},
      {"job.name=\xff", "--set job.name=\xff: the value is not UTF-8 text"},
      {"training=5", "--set training=5: training: expected a section [training], found 5"},
      {"cluster.workers=9",
       "--set cluster.workers=9: cluster.workers: 9 workers cannot share 4 slots: some would have "
       "nothing to do; lower "
       "cluster.workers, or raise cluster.slots, on which the result depends"},
  };
  for (const auto& [set, why] : table) {
    CAPTURE(set);
    CHECK(fault("", {set}) == why);
  }
}

TEST_CASE("a job that did not come from a file is checked by itself") {
  auto job = good("");
  CHECK(check_job(job));
  job.mutable_training()->set_combine("sum");
  job.mutable_training()->set_staleness(unbounded);
  CHECK(check_job(job).failure().text ==
        "training.combine: 'sum' adds up the pushes of a clock, which cannot be done when "
        "staleness is unbounded; use "
        "'each', or bound training.staleness");
}

TEST_CASE(
    "a table takes what it leaves out from the job, and the bias is not penalised unless asked") {
  const auto text = std::string(
      "[training.updater]\nname = 'ftrl'\nalpha = 0.3\nl1 = 2\nl2 = 3\n[tables.bias]\nupdater = "
      "{alpha = 0.5}\n");
  const auto weights = table_of(good(text), "weights");
  CHECK(weights.updater().alpha() == 0.3);
  CHECK(weights.updater().l1() == 2);
  CHECK(weights.combine() == "each");
  CHECK(weights.value_type() == "f32");
  CHECK_FALSE(weights.has_kind());
  const auto bias = table_of(good(text), "bias");
  CHECK(bias.updater().name() == "ftrl");
  CHECK(bias.updater().alpha() == 0.5);
  CHECK(bias.updater().l1() == 0);
  CHECK(bias.updater().l2() == 0);
  CHECK(table_of(good(text, {"training.penalise_bias=true"}), "bias").updater().l2() == 3);
  CHECK(table_of(good(text, {"tables.bias.updater.l2=7"}), "bias").updater().l2() == 7);
}

TEST_CASE("a function gets the numbers that it knows, and a registered one its own") {
  const auto numbers = [](const std::string& name) {
    return function_parameters(good("", {"training.updater=" + name}).training().updater());
  };
  using names = std::map<std::string, double>;
  CHECK(numbers("sgd") == names{});
  CHECK(numbers("momentum") == names{{"momentum", 0.9}});
  CHECK(numbers("adam") == names{{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}});
  CHECK(numbers("ftrl") == names{{"alpha", 0.1}, {"beta", 1}});
  CHECK(
      function_parameters(
          good("[training.updater]\nname = 'own'\nparameters = {gain = 2}").training().updater()) ==
      names{{"gain", 2}});
}

TEST_CASE(
    "paths belong to the file's folder, those of overrides and variables to the current one") {
  testing::temporary_folder folder;
  const auto here = std::filesystem::current_path().string();
  setenv("TROUPE_TEST_FOLDER", "relative", 1);
  write(folder / "job.toml",
        "[data]\ntrain = ['a.svm', '/b.svm', '${TROUPE_TEST_FOLDER}/c.svm', 'x$$y', "
        "'sub/../d.svm']\n");
  const auto job = load_job(*posix_file_system(), folder / "job.toml", {"data.test=t.svm"});
  if (!job) FAIL(job.failure().text);
  const auto root = std::filesystem::path(folder.path());
  CHECK(job->data().train(0) == (root / "a.svm").string());
  CHECK(job->data().train(1) == "/b.svm");
  CHECK(job->data().train(2) == here + "/relative/c.svm");
  CHECK(job->data().train(3) == (root / "x$y").string());
  CHECK(job->data().train(4) == (root / "d.svm").string());
  CHECK(job->data().test(0) == here + "/t.svm");
  CHECK(job->data().cache() == here + "/.troupe-cache");
  CHECK(job->data().dictionary().empty());
  const auto again = parse_job(to_toml(*job), "again.toml");
  REQUIRE(again);
  CHECK(same(*again, *job));
}

TEST_CASE("a variable that is not set is named") {
  CHECK(fault("data.test = '${TROUPE_TEST_UNSET}/x'") ==
        "job.toml:2:13: data.test: the environment variable TROUPE_TEST_UNSET, named in "
        "'${TROUPE_TEST_UNSET}/x', is "
        "not set; set it, or write the path out");
  CHECK(fault("data.test = '${X'") == "job.toml:2:13: data.test: '${' without its '}' in '${X'");
}

TEST_CASE("a job file that is not there is an error that names it") {
  testing::temporary_folder folder;
  const auto job = load_job(*posix_file_system(), folder / "no.toml");
  REQUIRE_FALSE(job);
  CHECK(job.failure().code == errc::io);
  CHECK(job.failure().text.find("no.toml") != std::string::npos);
}

}  // namespace troupe::config
