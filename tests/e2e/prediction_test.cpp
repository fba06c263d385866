// Models that travel: predictions, exports and imports, another run that goes on from them.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

words lines_of(const std::string& text) {
  words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without_labels(const std::string& svm) {
  std::string text;
  for (const auto& line : lines_of(svm)) text += line.substr(line.find(' ') + 1) + "\n";
  return text;
}

}  // namespace

TEST_CASE("predictions come in the rows' order, from files and standard input, labelled or not") {
  const workplace here;
  const auto done = here.train();
  const auto test = synthetic_data() / "test.svm";
  const auto end =
      here.troupe({"predict", "--model", "model", test, "--metrics", "--json", "p.json"});
  INFO(end.err);
  REQUIRE(end.exit_code == 0);
  const auto predicted = lines_of(end.out);
  CHECK(predicted.size() == 1000);
  CHECK(std::all_of(predicted.begin(), predicted.end(),
                    [](const std::string& p) { return std::stod(p) > 0 && std::stod(p) < 1; }));
  // To the last digit as the job measured.
  const result_page page(read_file(here / "p.json"));
  for (const auto* name : {"test_logloss", "test_auc", "test_accuracy", "test_pr_auc",
                           "test_normalised_entropy", "test_calibration"})
    CHECK(page.number(name) == done.number(name));
  here.write("bare.svm", without_labels(read_file(test)));
  CHECK(here.troupe({"predict", "--model", "model", "bare.svm"}).out == end.out);
  program_place place;
  place.folder = here.path();
  place.input = test;
  CHECK(run_program({TROUPE_BINARY, "predict", "--model", "model"}, place).out == end.out);
  CHECK(here.troupe({"predict", "--model", "model", test, test}).out == end.out + end.out);
  const auto raw = lines_of(here.troupe({"predict", "--model", "model", "--raw", test}).out);
  const auto labels = lines_of(here.troupe({"predict", "--model", "model", "--labels", test}).out);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    CHECK((std::stod(raw[i]) > 0) == (std::stod(predicted[i]) > 0.5));
    CHECK(labels[i] == (std::stod(raw[i]) > 0 ? "1" : "-1"));
  }
  check_refused(here.troupe({"predict", "--model", "model", "bare.svm", "--metrics"}),
                {"bare.svm:1:1: a row without a label cannot be measured"});
}

TEST_CASE("rows keep their ids, and faulty ones end a prediction or are counted") {
  const workplace here;
  here.write("a.csv", "who,y,x\nann,1,1\nbob,0,-1\ncid,1,2\n");
  const auto job = set("data.format=csv") + set("data.train=a.csv") + set("data.test=a.csv") +
                   set("data.csv.columns.who=id") + set("data.csv.columns.y=label") +
                   set("data.csv.others=number");
  here.train(job);
  here.write("b.csv", "x,who\n3,dan\noops,eve\n-3,fay\n");
  const auto refused = here.troupe({"predict", "--model", "model", "--raw", "b.csv"});
  check_refused(refused, {"b.csv:3:1: number 'x': 'oops' is not a number"});
  CHECK(refused.out.rfind("dan\t", 0) == 0);  // what came before is not lost
  const auto fine = here.troupe(
      {"predict", "--model", "model", "--raw", "b.csv", "--set", "data.max_bad_rows=1"});
  CHECK(fine.exit_code == 0);
  const auto lines = lines_of(fine.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].rfind("dan\t", 0) == 0);
  CHECK(lines[1].rfind("fay\t-", 0) == 0);
  CHECK(contains(fine.err, "oops"));
  CHECK(here.troupe({"predict", "--model", "model", "--raw", "b.csv", "--set",
                     "data.max_bad_rows=1", "--batch", "1"})
            .out == fine.out);
  // Labels that are words come back as words.
  here.write("w.csv", "y,x\nyes,1\nno,-1\nyes,2\nno,-2\n");
  here.train(set("data.format=csv") + set("data.train=w.csv") + set("data.test=w.csv") +
             set("data.csv.columns.y=label") + set("data.csv.others=number") +
             set("data.csv.label_words.yes=1") + set("data.csv.label_words.no=0"));
  CHECK(here.troupe({"predict", "--model", "model", "--labels", "w.csv"}).out ==
        "yes\nno\nyes\nno\n");
}

TEST_CASE("an exported model comes back as the same model, and predicts the same") {
  const workplace here;
  const auto done = here.train();
  const auto test = synthetic_data() / "test.svm";
  const auto predicted = here.troupe({"predict", "--model", "model", test}).out;
  for (const std::string format : {"text", "npz", "liblinear"}) {
    INFO(format);
    const auto out = here.troupe(
        {"export", "--model", "model", "--format", format, "--output", "model." + format});
    INFO(out.err);
    REQUIRE(out.exit_code == 0);
    const auto in = here.troupe({"import", "model." + format, "--model", "back-" + format});
    INFO(in.err);
    REQUIRE(in.exit_code == 0);
    if (format != "liblinear") CHECK(contains(in.out, done.digest()));
    CHECK(here.troupe({"predict", "--model", "back-" + format, test}).out == predicted);
  }
  const auto inspected = here.troupe({"inspect", "back-text", "--largest", "3"});
  CHECK(inspected.exit_code == 0);
  for (const auto* part : {"a model of the app 'linear'", "trained by adagrad", "non-zeros",
                           "the largest weights, by key", "negative -1, positive 1"})
    CHECK(contains(inspected.out, part));
  check_refused(here.troupe({"export", "--model", "model", "--format", "onyx"}),
                {"no export format 'onyx'"});
  check_refused(here.troupe({"import", "job.toml", "--model", "x"}), {"job.toml is no model"});
}

TEST_CASE("day one and then day two is one run cut there, bit for bit") {
  const workplace here;
  const auto lines = lines_of(read_file(synthetic_data() / "train.svm"));
  const auto joined = [&](std::size_t from, std::size_t to) {
    std::string text;
    for (auto i = from; i < to; ++i) text += lines[i] + "\n";
    return text;
  };
  // Day one in whole rounds of blocks: 4 slots, 100 rows each, three rounds.
  here.write("one.svm", joined(0, 1200));
  here.write("two.svm", joined(1200, 1970));
  here.write("both.svm", joined(0, 1970));
  const auto base = set("data.shuffle=false") + set("data.deal=blocks") +
                    set("data.block_rows=100") + set("training.epochs=1") +
                    set("training.penalty_rows=1970") + set("training.updater.l2=1") +
                    set("training.updater.schedule.name=inverse_sqrt") +
                    set("training.updater.schedule.decay=10");
  for (const std::string updater : {"adagrad", "ftrl", "adam"}) {
    const auto job = base + set("training.updater.name=" + updater);
    INFO(updater);
    const auto whole = here.train(job + set("data.train=both.svm"));
    here.train(job + set("data.train=one.svm") + set("model.output=day-one"));
    const auto second = here.train(job + set("data.train=two.svm") + set("model.initial=day-one") +
                                   words{"--servers", "3", "--workers", "1"});
    CHECK(second.digest() == whole.digest());
    // In virtual time too.
    const auto virtual_second =
        here.train(job + set("data.train=two.svm") + set("model.initial=day-one") +
                   words{"--clock", "virtual"});
    CHECK(virtual_second.digest() == whole.digest());
  }
  // One slot needs no rounds: any minibatch's end will do.
  const auto alone = base + set("cluster.slots=1") + set("cluster.workers=1") +
                     set("data.deal=runs") + set("data.block_rows=50");
  const auto whole = here.train(alone + set("data.train=both.svm"));
  here.train(alone + set("data.train=one.svm") + set("model.output=day-one"));
  CHECK(here.train(alone + set("data.train=two.svm") + set("model.initial=day-one")).digest() ==
        whole.digest());
}

TEST_CASE("blocks that are too few for the slots are refused") {
  const workplace here;
  check_refused(here.sim(set("data.deal=blocks")),
                {"data.deal", "1 blocks", "4 slots", "data.block_rows"});
}

TEST_CASE("what does not fit an earlier model is refused, and both settings are named") {
  const workplace here;
  here.train(set("model.output=before"));
  const auto from = set("model.initial=before");
  check_refused(here.sim(from + set("training.updater.name=ftrl")),
                {"tables.weights.updater", "adagrad", "there, ftrl", "model.initial_state"});
  CHECK(here.sim(from + set("training.updater.name=ftrl") + set("model.initial_state=false"))
            .exit_code == 0);
  check_refused(here.sim(from + set("data.hash_bits=20")),
                {"data.hash_bits: 0 there, 20 in this job"});
  check_refused(here.sim(from + set("model.value_type=f64")),
                {"tables.weights.value_type: f32 there, f64 in this job"});
  check_refused(here.sim(from + set("data.index_base=0")),
                {"data.index_base: 1 there, 0 in this job"});
  check_refused(here.sim(from + set("model.bias=false")), {"model.bias: true there, false"});
  check_refused(here.sim(set("model.initial=nowhere")), {"nowhere is no model's folder"});
  // Values alone, and other rows: the first loss is that of a trained model.
  const auto cold = here.train(set("training.epochs=1"));
  const auto warm = here.train(set("training.epochs=1") + from + set("model.initial_state=false"));
  CHECK(warm.number("train_progressive_loss") < cold.number("train_progressive_loss"));
}
