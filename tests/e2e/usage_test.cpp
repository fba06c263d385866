// What the executable says to those who ask, and to those who mistype.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

TEST_CASE("every command answers --help and --version") {
  const temporary_folder folder;
  for (const char* command : {"", "sim", "evaluate", "export", "config", "make-data"}) {
    INFO("troupe ", std::string(command));
    const auto asked = [&](const char* option) {
      return troupe_in(folder.path(), *command ? words{command, option} : words{option});
    };
    const auto help = asked("--help");
    CHECK(help.exit_code == 0);
    CHECK(help.out.rfind(std::string("usage: troupe ") + command, 0) == 0);
    CHECK(help.err.empty());
    const auto version = asked("--version");
    CHECK(version.exit_code == 0);
    CHECK(version.out.rfind("troupe ", 0) == 0);
    CHECK(version.err.empty());
  }
}

TEST_CASE("no command at all is bad usage, and shows the usage") {
  const temporary_folder folder;
  const auto end = troupe_in(folder.path(), {});
  CHECK(end.exit_code == 2);
  CHECK(end.out.empty());
  CHECK(contains(end.err, "usage: troupe COMMAND"));
}

TEST_CASE("an unknown command names the nearest one") {
  const temporary_folder folder;
  check_refused(troupe_in(folder.path(), {"evalaute"}), {"'evalaute'", "did you mean 'evaluate'?"});
  check_refused(troupe_in(folder.path(), {"transmogrify"}), {"'transmogrify'", "troupe --help"});
}

TEST_CASE("bad usage of a command is told with exit code 2") {
  const workplace here;
  struct {
    words arguments;
    std::string told;
  } const cases[] = {
      {{"sim", "job.toml", "--wrokers", "2"}, "--wrokers"},
      {{"sim", "job.toml", "other.toml"}, "positional"},
      {{"sim", "job.toml", "--workers"}, "--workers"},
      {{"sim"}, "job file"},
      {{"evaluate"}, "--model"},
      {{"evaluate", "--moedl", "m"}, "--moedl"},
      {{"export"}, "--model"},
      {{"export", "--model", "m", "--format", "onnx"}, "onnx"},
      {{"config", "--no-such"}, "--no-such"},
      {{"make-data"}, "--synthetic"},
      {{"make-data", "--synthetic", "d", "--rows", "many"}, "--rows"},
      {{"make-data", "--synthetic", "d", "--rows", "-1"}, "--rows"},
      {{"make-data", "--synthetic", "d", "--rows", "0"}, "at least one row"},
      {{"make-data", "--synthetic", "d", "--debian", "e"}, "either"},
  };
  for (const auto& c : cases) {
    INFO(c.arguments[0], " ... expects ", c.told);
    check_refused(here.troupe(c.arguments), {c.told});
  }
}

TEST_CASE("the printed reference is a job file, and a job prints itself with its defaults") {
  const workplace here;
  const auto reference = here.troupe({"config"});
  REQUIRE(reference.exit_code == 0);
  here.write("reference.toml", reference.out);
  check_refused(here.troupe({"config", "reference.toml"}), {"data.train"});
  CHECK(here.troupe({"config", "reference.toml", "--set", "data.train=x"}).exit_code == 0);

  const auto whole = here.troupe({"config", "job.toml", "--set", "training.epochs=7"});
  REQUIRE(whole.exit_code == 0);
  CHECK(contains(whole.out, "epochs = 7"));
  CHECK(contains(whole.out, "patience = \"2 min\""));
  here.write("whole.toml", whole.out);
  CHECK(here.troupe({"config", "whole.toml"}).out == whole.out);
}
