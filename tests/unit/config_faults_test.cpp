#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

#include "config/job.hpp"
#include "tests/support/temporary_folder.hpp"

namespace troupe::config {

namespace {

// Of a file whose first line is "data.train = 'a.svm'".
std::string fault(const std::string& text, const overrides& set = {}) {
  const auto job = parse_job("data.train = 'a.svm'\n" + text, "job.toml", set);
  if (job) return "no error";
  CHECK(job.failure().code == errc::bad_config);
  return job.failure().text;
}

}  // namespace

TEST_CASE("faults of a job file are named with their place, and with what was probably meant") {
  const struct {
    const char* text;
    const char* why;
  } table[] = {
      // unknown keys
      {"[training]\n  minibach = 5",
       "job.toml:3:3: training.minibach: unknown key; did you mean training.minibatch?"},
      {"training.epoc = 5",
       "job.toml:2:10: training.epoc: unknown key; did you mean training.epochs?"},
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

TEST_CASE("damaged text ends in an error or in a job, never in a crash") {
  const auto whole = reference_text();
  CHECK(rc::check("a reference with some bytes changed", [&] {
    auto text = whole.substr(*rc::gen::inRange<std::size_t>(0, whole.size()));
    for (int i = *rc::gen::inRange(0, 20); i > 0 && !text.empty(); --i)
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const auto job = parse_job(text, "damaged.toml", {"data.train=x"});
    if (!job) RC_ASSERT(!job.failure().text.empty());
  }));
  CHECK_FALSE(parse_job("data.train = " + std::string(100'000, '['), "deep.toml"));
  CHECK_FALSE(parse_job("data.train = 'x'\njob.name = " + std::string(100'000, '{'), "deep.toml"));
}

}  // namespace troupe::config
