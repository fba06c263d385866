// The scenarios that come with Troupe, and seeds beside them, in virtual time.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "apps/chaos/coverage.hpp"
#include "apps/chaos/draw.hpp"
#include "apps/chaos/isolated.hpp"
#include "apps/chaos/shrink.hpp"
#include "apps/chaos/strike.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "core/file.hpp"
#include "core/planted_bug.hpp"
#include "tests/support/scenarios.hpp"

using namespace troupe;
using namespace troupe::chaos;
using troupe::testing::broken;
using troupe::testing::parsed_scenario;

namespace {

config::Scenario load(const std::string& name) {
  const auto s = config::load_scenario(*posix_file_system(),
                                       TROUPE_SOURCE_DIR "/config/chaos/" + name, all_words());
  INFO((s ? std::string() : s.failure().text));
  REQUIRE(s.ok());
  return *s;
}

std::vector<std::string> library() {
  std::vector<std::string> names;
  const auto all = posix_file_system()->list(TROUPE_SOURCE_DIR "/config/chaos");
  REQUIRE(all.ok());
  for (const auto& name : *all)
    if (name.size() > 5 && name.substr(name.size() - 5) == ".toml") names.push_back(name);
  return names;
}

run_outcome played(const config::Scenario& s) {
  const auto o = run_in_virtual_time(s, {});
  INFO((o ? std::string() : o.failure().text));
  REQUIRE(o.ok());
  return *o;
}

}  // namespace

TEST_CASE("every scenario of the library keeps its promises, and says which it threatens") {
  const auto names = library();
  CHECK(names.size() >= 20);
  for (const auto& name : names) {
    const auto s = load(name);
    INFO(name);
    CHECK(s.scenario().threatens().size() > 20);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      auto with = s;
      with.mutable_scenario()->set_seed(seed);
      CHECK(broken(played(with)) == "");
    }
  }
}

TEST_CASE("800 seeds of random chaos") {
  std::size_t faults = 0;
  coverage covered;
  isolated_runs runs;
  runs.first = 1;
  runs.last = 800;
  runs.at_once = 2;
  runs.run = [](std::uint64_t seed) { return run_in_virtual_time(draw(seed), {}); };
  runs.on_end = [&](const brief_outcome& e) {
    INFO("troupe chaos --random --seed ", e.number);
    CHECK((e.ok() ? std::string() : e.first->promise + ": " + e.first->text) == "");
    faults += e.faults;
    for (const auto& [cell, count] : e.covered) covered[cell] += count;
    return true;
  };
  run_isolated(runs);
  CHECK(faults > 1500);
  // Of 783 cells; a sweep of thousands meets them all.
  CHECK(all_cells().size() - thin_cells(covered, 1).size() > 600);
}

TEST_CASE("a run is a function of its scenario and its seed: timelines are equal") {
  for (const std::uint64_t seed : {3, 14, 159}) {
    const auto a = played(draw(seed)), b = played(draw(seed));
    CHECK(a.digest == b.digest);
    REQUIRE(a.happenings.size() == b.happenings.size());
    for (std::size_t i = 0; i < a.happenings.size(); ++i) {
      CHECK(a.happenings[i].at == b.happenings[i].at);
      CHECK(a.happenings[i].text == b.happenings[i].text);
    }
  }
  CHECK(played(draw(3)).digest != played(draw(4)).digest);
}

TEST_CASE("a run that crashes is a finding, and takes nobody with it") {
  std::vector<std::string> promises(7);
  isolated_runs runs;
  runs.last = 6;
  runs.at_once = 2;
  runs.run = [](std::uint64_t number) -> result<run_outcome> {
    if (number == 2) ::raise(SIGKILL);
    run_outcome o;
    if (number == 5) o.violations.push_back({"exactly once", "not", {}});
    return o;
  };
  runs.on_end = [&](const brief_outcome& e) {
    promises[e.number] = e.ok() ? "kept" : e.first->promise;
    return true;
  };
  run_isolated(runs);
  CHECK(promises == std::vector<std::string>{"kept", "kept", "the program does not crash", "kept",
                                             "kept", "exactly once", "kept"});
}

// ---- What sweeps have found, once.

TEST_CASE(
    "a server that drains keeps what it has until those that stay have shown that they live") {
  // The other copy has died, and nobody knows it yet.
  for (const char* drained : {"27 ms", "24 ms", "30 ms"})
    CHECK(broken(played(parsed_scenario(
              std::string(
                  "[cluster]\nservers = 2\nworkers = 1\nslots = 1\n[workload]\nkind = "
                  "\"registers\"\nclocks = 40\nkeys = 2\nkey_space = 6\nstaleness = 3\n"
                  "[[faults]]\nkind = \"kill\"\nnode = \"server 0\"\nat = \"23 ms\"\nlasts = \"9 "
                  "ms\"\n[[faults]]\nkind = \"drain\"\nnode = \"server 1\"\nat = \"") +
              drained + "\"\n"))) == "");
}

TEST_CASE("a scheduler that sleeps before its first look holds nobody's silence against them") {
  CHECK(broken(played(parsed_scenario(
            "[cluster]\nservers = 2\nworkers = 1\n[workload]\nstaleness = 3\n"
            "[[faults]]\nkind = \"pause\"\nnode = \"scheduler\"\nat = \"2 ms\"\nlasts = "
            "\"75 ms\"\n"))) == "");
}

TEST_CASE("a node that was silent while all gathered is one of them again") {
  for (const char* node : {"worker 2", "server 1"})
    CHECK(broken(played(parsed_scenario(
              std::string("[[faults]]\nkind = \"pause\"\nat = \"17 ms\"\nlasts = \"45 "
                          "ms\"\nnode = \"") +
              node + "\"\n"))) == "");
}

TEST_CASE("a disk that is full when the model is saved fails the job only when it stays so") {
  CHECK(broken(played(parsed_scenario(
            "[workload]\nclocks = 30\n[[faults]]\nkind = \"disk_full\"\nnode = \"server "
            "1\"\nat = \"10 ms\"\nlasts = \"300 ms\"\n"))) == "");
  const auto for_good = played(parsed_scenario(
      "[scenario]\nheal_at = \"60 s\"\n[workload]\nclocks = 30\n[[faults]]\nkind = "
      "\"disk_full\"\nnode = "
      "\"server 1\"\nat = \"10 ms\"\n[expect]\noutcome = \"failed\"\ntext = \"no space left\"\n"));
  CHECK(broken(for_good) == "");
}

TEST_CASE("a cluster goes on from a checkpoint that was taken after slots had moved") {
  CHECK(broken(played(parsed_scenario(
            "[cluster]\nservers = 2\nworkers = 2\nslots = 1\ncheckpoint_every = 4\n"
            "[workload]\nkind = \"training\"\nclocks = 12\nclock_time = \"1200 us\"\n"
            "restore_at = [\"75 ms\"]\n[[faults]]\nkind = \"kill\"\nnode = \"*\"\n"
            "at = \"0 s\"\nlasts = \"85 ms\"\nstate = \"a push is sent\"\n"))) == "");
}

TEST_CASE("a checkpoint that is spoiled while it is loaded is passed over") {
  for (const char* staleness : {"", "staleness = \"unbounded\"\n"})
    CHECK(broken(played(parsed_scenario(
              std::string("[cluster]\nworkers = 2\nslots = 1\ncheckpoint_every = 4\n[workload]\n"
                          "clocks = 30\nkeys = 1\nkey_space = 1\nclock_time = \"1200 us\"\n") +
              staleness +
              "[[faults]]\nkind = \"kill\"\nnode = \"server *\"\nat = \"0 s\"\n"
              "lasts = \"1 ms\"\nstate = \"a checkpoint counts\"\npassed_by = \"*\"\n"
              "occurrence = 3\n[[faults]]\nkind = \"truncate\"\nat = \"0 s\"\n"
              "state = \"rows have been loaded\"\npassed_by = \"*\"\n"
              "[expect]\nloss = true\n"))) == "");
}

TEST_CASE("a server that cannot open a checkpoint for a moment is asked to load it again") {
  const auto with_faults = [](const std::string& lasts, const std::string& more) {
    return broken(played(parsed_scenario(
        "[cluster]\nservers = 4\nworkers = 1\nslots = 1\ncheckpoint_every = 6\n[workload]\n"
        "kind = \"registers\"\nclocks = 6\nkeys = 1\nkey_space = 1\nstaleness = "
        "\"unbounded\"\nclock_time = \"600 us\"\nrestore_at = [\"56 ms\"]\n"
        "[network]\nlatency = \"452 us\"\n[[faults]]\nkind = \"descriptors\"\nnode = "
        "\"server 2\"\nat = \"0 s\"\nlasts = " +
        lasts + "\nstate = \"a view is made and not published\"\npassed_by = \"*\"\n" + more)));
  };
  CHECK(with_faults("\"27 ms\"", "") == "");
  CHECK(with_faults("\"100 s\"",
                    "[scenario]\nheal_at = \"60 s\"\n[expect]\noutcome = \"failed\"\ntext = "
                    "\"too many open files\"\n") == "");
}

TEST_CASE("clocks that are set right again lose no timer") {
  CHECK(broken(played(parsed_scenario(
            "[cluster]\nworkers = 2\nslots = 2\n[[faults]]\nkind = \"skew\"\nnode = \"worker "
            "0\"\nat = \"3 ms\"\nlasts = \"2 ms\"\nfactor = 1.04\n"))) == "");
}

TEST_CASE("shrinking a failing case of a planted bug leaves at most three faults" *
          doctest::skip(!choose_planted_bug("no-duplicate-check"))) {
  const auto breaks = [](const config::Scenario& s) {
    return !run_isolated([&] { return run_in_virtual_time(s, {}); }).ok();
  };
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const auto s = made_explicit(draw(seed));
    if (!breaks(s)) continue;
    shrinking how;
    how.breaks = breaks;
    CHECK(shrink(s, how).faults_size() <= 3);
    return;
  }
  FAIL("no seed has found it");
}
