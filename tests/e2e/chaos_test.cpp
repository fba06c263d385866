// The command: what it prints, writes and returns.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

TEST_CASE("a scenario is kept, in virtual time and in one process, and the files say so") {
  const workplace here;
  here.write(
      "one.toml",
      "[workload]\nclocks = 20\nclock_time = \"500 us\"\nstaleness = \"unbounded\"\n[scenario]\n"
      "stretch = 10\n[[faults]]\nnode = \"server 1\"\nat = \"5 ms\"\nlasts = \"5 ms\"\n");
  const auto kept = here.troupe(
      {"chaos", "one.toml", "--json", "r.json", "--junit", "r.xml", "--timeline", "t.html"});
  INFO(kept.out, kept.err);
  CHECK(kept.exit_code == 0);
  CHECK(contains(kept.out, "kept     one.toml: 1 faults"));
  CHECK(result_page(read_file(here / "r.json")).number("faults") == 1);
  CHECK(contains(read_file(here / "r.xml"), "<testcase classname=\"chaos\" name=\"one.toml\""));
  CHECK(contains(read_file(here / "t.html"), "<title>kill: server 1"));
  const auto local = here.troupe({"chaos", "one.toml", "--target", "local"});
  INFO(local.out, local.err);
  CHECK(local.exit_code == 0);
}

TEST_CASE("what is broken is named first and last, and shrunk to a file that breaks it again") {
  const workplace here;
  // What cannot be kept: more die than there are copies, and no loss is expected of what was
  // acknowledged. The budget would hold such a fault back, so the job is told to fail and does not.
  here.write(
      "bad.toml",
      "[workload]\nclocks = 20\n[[faults]]\nkind = \"pause\"\nnode = \"worker 0\"\nat = \"5 "
      "ms\"\nlasts = \"3 ms\"\n[[faults]]\nkind = \"reset\"\nnode = \"worker 1\"\nat = \"4 ms\"\n"
      "[expect]\noutcome = \"failed\"\n");
  const auto end = here.troupe({"chaos", "bad.toml", "--out", "found"});
  INFO(end.out, end.err);
  CHECK(end.exit_code == 1);
  CHECK(contains(end.out, "BROKEN: the outcome is the expected one"));
  const std::string replay = "replay: troupe chaos bad.toml";
  const auto first = end.out.find(replay);
  REQUIRE(first != std::string::npos);
  CHECK(end.out.rfind(replay) > first);
  CHECK(contains(end.out, "history:"));
  const auto again = here.troupe({"chaos", "found/bad.toml", "--no-shrink"});
  CHECK(again.exit_code == 1);
  CHECK(contains(again.out, "BROKEN: the outcome is the expected one"));
}

TEST_CASE("a wrong scenario is told with its line, and ends with code 2") {
  const workplace here;
  here.write("wrong.toml", "[[faults]]\nkind = \"explode\"\n");
  const auto end = here.troupe({"chaos", "wrong.toml"});
  CHECK(end.exit_code == 2);
  CHECK(contains(end.err, "wrong.toml:1"));
  CHECK(contains(end.err, "'explode' is no kind of fault"));
  CHECK(here.troupe({"chaos", "missing.toml"}).exit_code == 2);
  CHECK(here.troupe({"chaos"}).exit_code == 2);
  CHECK(here.troupe({"chaos", "--random"}).exit_code == 2);
  CHECK(here.troupe({"chaos", "--random", "--seeds", "5..1"}).exit_code == 2);
  CHECK(here.troupe({"chaos", "--random", "--seed", "1", "--bug", "no-such"}).exit_code == 2);
  here.write("far.toml", "[[faults]]\nkind = \"skew\"\nlasts = \"1 ms\"\n");
  const auto far = here.troupe({"chaos", "far.toml", "--target", "processes"});
  CHECK(far.exit_code == 2);
  CHECK(contains(far.err, "skew is not possible with --target processes"));
}

TEST_CASE("seeds are swept, and the table says what has met what") {
  const workplace here;
  const auto end = here.troupe({"chaos", "--random", "--seeds", "1..20"});
  INFO(end.out, end.err);
  CHECK(end.exit_code == 0);
  CHECK(contains(end.out, "20 runs, 0 broken"));
  CHECK(contains(end.out, "a push is applied and not passed on"));
  CHECK(contains(end.out, "filters, in runs with a fault: bf16 "));
  // Twenty seeds cannot cover everything, and a sweep that must says so.
  const auto thin = here.troupe({"chaos", "--random", "--seeds", "1..5", "--least", "1"});
  CHECK(thin.exit_code == 1);
  CHECK(contains(thin.out, "not covered: "));
  CHECK(contains(thin.out, "not covered: the filter "));
  CHECK(contains(here.troupe({"chaos", "--kinds"}).out, "half_open"));
  CHECK(contains(here.troupe({"chaos", "--states"}).out, "a view is published"));
}

TEST_CASE("docs/scenario.md is the reference") {
  const workplace here;
  CHECK(here.troupe({"chaos", "--markdown"}).out ==
        read_file(TROUPE_SOURCE_DIR "/docs/scenario.md"));
}
