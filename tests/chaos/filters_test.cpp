// Filters of pushes and pulls while faults strike, in virtual time and in one process.
#include <doctest/doctest.h>

#include "apps/chaos/draw.hpp"
#include "apps/chaos/fault_kinds.hpp"
#include "apps/chaos/isolated.hpp"
#include "apps/chaos/local_target.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "messages/filters/filter_text.hpp"
#include "tests/support/scenarios.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::chaos;
using troupe::testing::broken;
using troupe::testing::parsed_scenario;
using troupe::testing::temporary_folder;

namespace {

// How much of the bytes is left.
double left_of(const run_outcome& o) {
  return o.metrics.at("bytes_filtered") / o.metrics.at("bytes");
}

}  // namespace

TEST_CASE(
    "300 seeds of bulk-synchronous training through filters: the bits are those without faults") {
  std::size_t faults = 0, compared = 0, lossy = 0;
  isolated_runs runs;
  runs.first = 1;
  runs.last = 600;
  runs.at_once = 2;
  const auto scenario = [](std::uint64_t seed) {
    auto s = draw(seed);
    s.mutable_workload()->set_kind("training");
    s.mutable_workload()->set_staleness(0);
    return s;
  };
  runs.run = [&](std::uint64_t seed) -> result<run_outcome> {
    const auto s = scenario(seed);
    if (filters_in(s).empty()) return run_outcome();
    return run_in_virtual_time(s, {});
  };
  runs.on_end = [&](const brief_outcome& e) {
    INFO("seed ", e.number);
    CHECK((e.ok() ? std::string() : e.first->promise + ": " + e.first->text) == "");
    const auto s = scenario(e.number);
    const auto names = filters_in(s);
    faults += e.faults;
    compared += !names.empty() && same_bits_under_faults(s);
    for (const auto& name : names)
      if (exact_up_to(*filter_of(name)) < 1e9) {
        ++lossy;
        break;
      }
    return true;
  };
  run_isolated(runs);
  CHECK(faults > 500);
  CHECK(compared > 200);
  CHECK(lossy > 30);
}

TEST_CASE("what travels is encoded, in virtual time and between nodes of one process") {
  const std::string chain = "[\"value_delta\", \"key_cache least_keys=3\"]\n";
  const auto s = parsed_scenario(
      "[scenario]\nstretch = 10\n[cluster]\nservers = 2\nworkers = 2\nslots = 2\n"
      "[workload]\nclocks = 40\nkeys = 100\nkey_space = 1000\nkey_sets = 2\n[filters]\npush = " +
      chain + "pull = " + chain +
      "[[faults]]\nnode = \"worker 0\"\nat = \"20 ms\"\nlasts = \"5 ms\"\n");
  const auto in_virtual_time = run_in_virtual_time(s, {});
  REQUIRE(broken(in_virtual_time) == "");
  CHECK(left_of(*in_virtual_time) < 0.5);
  const temporary_folder folder;
  const auto in_one_process = run_in_one_process(s, folder.path());
  REQUIRE(broken(in_one_process) == "");
  CHECK(left_of(*in_one_process) < 0.8);
}

TEST_CASE("the same bits are promised where filters can promise them") {
  const auto promised = [](const std::string& push, const std::string& pull,
                           const std::string& more = "") {
    return same_bits_under_faults(
        parsed_scenario("[workload]\nkind = \"training\"\n[filters]\npush = [" + push +
                        "]\npull = [" + pull + "]\n" + more));
  };
  const std::string join = "[[faults]]\nkind = \"join\"\nnode = \"server 3\"\n";
  CHECK(promised("\"random_skip\", \"fixed8\", \"zstd\"", "\"fixed16\", \"lz4\""));
  CHECK_FALSE(promised("\"significant threshold=0.1\"", ""));
  // A shard's part of an answer is rounded by itself.
  CHECK_FALSE(promised("", "\"fixed16\"", join));
  CHECK(promised("\"fixed8\"", "\"bf16\"", join));
}
