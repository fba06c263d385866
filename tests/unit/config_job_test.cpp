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
  CHECK(job.training().updater().alpha() == 0.05);
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
  CHECK(numbers("ftrl") == names{{"alpha", 0.05}, {"beta", 1}});
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

TEST_CASE("an override's key may have parts in quotes, with anything in them") {
  const auto job = parse_job("[data]\ntrain = 'a'\n", "job.toml",
                             {R"(data.csv.columns."my column"=label)",
                              R"(data.csv.columns."a.b=\"c\""=number)", "data.csv.others=ignore"});
  if (!job) FAIL(job.failure().text);
  const auto& columns = job->data().csv().columns();
  CHECK(columns.at("my column") == "label");
  CHECK(columns.at("a.b=\"c\"") == "number");
  CHECK_FALSE(parse_job("[data]\ntrain = 'a'\n", "job.toml", {"data.csv.columns.\"x=label"}).ok());
}

}  // namespace troupe::config
