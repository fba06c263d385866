// Scenario files, the faults they mean, what is drawn from seeds, and shrinking.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "apps/chaos/chaos_report.hpp"
#include "apps/chaos/coverage.hpp"
#include "apps/chaos/draw.hpp"
#include "apps/chaos/shrink.hpp"
#include "apps/chaos/strike.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "messages/filters/filter_text.hpp"

using namespace troupe;
using namespace troupe::chaos;

namespace {

config::Scenario scenario_of(const std::string& text) {
  auto s = config::parse_scenario(text, "x.toml", all_words());
  INFO((s ? std::string() : s.failure().text));
  REQUIRE(s.ok());
  return *s;
}
std::string fault_in(const std::string& text) {
  const auto s = config::parse_scenario(text, "x.toml", all_words());
  return s ? "" : s.failure().text;
}
std::string unplannable(const std::string& faults, target where) {
  const auto p = chaos::plan_of(scenario_of(faults), where);
  return p ? "" : p.failure().text;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a scenario cannot mean is named with file and line") {
  CHECK(has(fault_in("[[faults]]\nkind = \"kil\"\n"), "x.toml:1"));
  CHECK(has(fault_in("[[faults]]\nkind = \"kil\"\n"), "did you mean 'kill'?"));
  CHECK(
      has(fault_in("[[faults]]\nstate = \"a push is sent off\"\n"), "is no state of the protocol"));
  CHECK(has(fault_in("[cluster]\ncopies = 3\n"), "cluster.copies"));
  CHECK(has(fault_in("[workload]\nkind = \"registers\"\ncombine = \"sum\"\n"), "workload.combine"));
  CHECK(has(fault_in("[workload]\nrestore_at = [\"10 ms\"]\n"), "cluster.checkpoint_every"));
  CHECK(has(fault_in("[[faults]]\natt = \"3 ms\"\n"), "did you mean"));
}

TEST_CASE(
    "filters that would break what a workload's check counts on are refused, with the reason") {
  const auto fault = [](const std::string& kind, const std::string& filters,
                        const std::string& clocks = "100") {
    return fault_in("[workload]\nkind = \"" + kind + "\"\nclocks = " + clocks + "\n[filters]\n" +
                    filters + "\n");
  };
  CHECK(fault("training", "push = [\"random_skip\", \"fixed8\", \"zstd\"]") == "");
  CHECK(fault("counters", "push = [\"fixed8\", \"zstd level=3\"]\npull = [\"f16\"]") == "");
  CHECK(
      fault("training", "push = [\"zstd\", \"fixed8\"]") ==
      "x.toml:5:8: filters.push: table 'weights', filters of pushes: 'fixed8' loses something, and "
      "must stand before those that only encode");
  CHECK(has(fault("training", "pull = [\"zstd 3\"]"),
            "filters.pull: the filter 'zstd 3': '3' is no"));
  CHECK(has(fault("registers", "pull = [\"zsdt\"]"), "did you mean 'zstd'?"));
  CHECK(has(fault("counters", "push = [\"random_skip\"]"),
            "'random_skip' changes what is pushed, and the check of counters counts on every bit"));
  CHECK(
      has(fault("registers", "push = [\"significant\"]"), "'significant' changes what is pushed"));
  // Slots are four: values up to 400.
  CHECK(has(fault("registers", "push = [\"bf16\"]"),
            "'bf16' keeps whole numbers up to 256 as they are; registers up to 400 are pushed"));
  CHECK(fault("registers", "push = [\"bf16\"]", "64") == "");
  CHECK(has(fault("counters", "pull = [\"fixed8\"]"), "counters up to 400 are read"));
  CHECK(fault("counters", "pull = [\"fixed8\"]", "31") == "");
}

TEST_CASE("whole numbers up to a filter's bound pass through it as they are") {
  for (const std::string name : {"bf16", "f16", "fixed8", "fixed16"})
    for (const bool doubles : {false, true}) {
      const auto bound = static_cast<std::size_t>(*exact_up_to(*filter_of(name)));
      pb::TableSpec table;
      table.set_width(1);
      table.set_value_type(doubles ? "f64" : "f32");
      table.add_push_filters()->set_name(name);
      // Blocks of 256 rows, of which every one has another largest.
      const auto through = [&](auto numbers) {
        payload rows;
        std::vector<position> keys(numbers.size());
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
        rows.keys = blob::copy_of(span<const position>(keys));
        rows.values = blob::copy_of(span<const typename decltype(numbers)::value_type>(numbers));
        const auto before = rows.values;
        value_chain(table, direction::push).apply(rows, {1, 2, 3, 0});
        return rows.values == before;
      };
      std::vector<double> all;
      for (std::size_t i = 0; i <= bound; ++i) all.push_back(static_cast<double>(i));
      all.push_back(1);
      INFO(name);
      CHECK((doubles ? through(all) : through(std::vector<float>(all.begin(), all.end()))));
      all.assign(bound + 2, 1);
      all.back() = static_cast<double>(bound + (name == "bf16" || name == "f16" ? 1 : 2));
      CHECK_FALSE((doubles ? through(all) : through(std::vector<float>(all.begin(), all.end()))));
    }
  CHECK_FALSE(exact_up_to(*filter_of("random_skip")));
  CHECK_FALSE(exact_up_to(*filter_of("significant")));
  CHECK(*exact_up_to(*filter_of("value_delta")) > 1e300);
}

TEST_CASE("what is possible depends on the target, and is no silent nothing") {
  const auto skew = "[scenario]\nheal_at = \"1 s\"\n[[faults]]\nkind = \"skew\"\n";
  CHECK(unplannable(skew, target::in_virtual_time) == "");
  CHECK(
      has(unplannable(skew, target::on_processes), "skew is not possible with --target processes"));
  CHECK(has(unplannable("[[faults]]\nkind = \"pause\"\nlasts = \"1 ms\"\n", target::in_one_process),
            "--target local"));
  CHECK(has(unplannable("[[faults]]\nkind = \"pause\"\n", target::in_virtual_time),
            "how long it lasts"));
  CHECK(has(unplannable("[[faults]]\nnode = \"server 7\"\n", target::in_virtual_time),
            "faults[1].node: 'server 7' is no node"));
  CHECK(has(unplannable("[[faults]]\nstate = \"a push is sent\"\n", target::on_processes),
            "only in virtual time"));
  CHECK(has(unplannable("[[faults]]\nkind = \"drop\"\nlasts = \"1 ms\"\nmessage = \"pusch\"\n",
                        target::in_virtual_time),
            "'pusch' is none of"));
  CHECK(has(unplannable("[[faults]]\nkind = \"duplicate_name\"\nnode = \"scheduler\"\n",
                        target::in_virtual_time),
            "a second scheduler cannot begin"));
  for (const auto& k : all_fault_kinds()) {
    bool somewhere_not = false;
    for (const bool possible : k.possible) somewhere_not |= !possible;
    CHECK((*k.impossible_why != '\0') == somewhere_not);
  }
}

TEST_CASE("targets: by name, role, label, chance and key") {
  const auto s = scenario_of(
      "[cluster.labels.rack]\nnodes = [\"server 0\", \"worker *\"]\n"
      "[[faults]]\nnode = \"label rack\"\n[[faults]]\nnode = \"any server\"\n"
      "[[faults]]\nnode = \"primary of 17\"\n[[faults]]\nnode = \"*\"\n"
      "[[faults]]\nkind = \"join\"\nnode = \"server 3\"\n");
  const auto p = chaos::plan_of(s, target::in_virtual_time);
  REQUIRE(p.ok());
  REQUIRE(p->strikes.size() == 5);
  CHECK(p->strikes[0].node.nodes.size() == 4);
  CHECK(p->strikes[1].node.nodes.size() == 1);
  CHECK(p->strikes[2].node.primary_of == 17);
  CHECK(p->strikes[3].node.nodes.size() == 7);  // who joins later is not there yet
  CHECK(p->strikes[4].node.hold(server_role(3)));
}

TEST_CASE("repetitions are written out, from the seed alone, and end with the healing") {
  const auto s = scenario_of(
      "[scenario]\nheal_at = \"150 ms\"\n[[faults]]\nevery = \"10 ms\"\nuntil = \"300 ms\"\nat = "
      "\"5 ms\"\nlasts = \"20 ms\"\n");
  const auto a = *chaos::plan_of(s, target::in_virtual_time),
             b = *chaos::plan_of(s, target::in_virtual_time);
  REQUIRE(a.strikes.size() == b.strikes.size());
  CHECK(a.strikes.size() > 5);
  for (std::size_t i = 0; i < a.strikes.size(); ++i) {
    CHECK(a.strikes[i].at == b.strikes[i].at);
    CHECK(a.strikes[i].at + a.strikes[i].lasts <= std::chrono::milliseconds(150));
  }
  CHECK(a.healed == std::chrono::milliseconds(150));
  auto other = s;
  other.mutable_scenario()->set_seed(2);
  CHECK(chaos::plan_of(other, target::in_virtual_time)->strikes[1].at != a.strikes[1].at);
}

TEST_CASE("partitions cut what their shape says") {
  const auto cuts = [](const std::string& shape, const std::string& more = "") {
    const auto s = scenario_of(
        "[cluster]\nservers = 4\nworkers = 1\n[[faults]]\nkind = \"partition\"\nlasts = \"1 "
        "ms\"\nshape = \"" +
        shape + "\"\n" + more);
    const auto p = chaos::plan_of(s, target::in_virtual_time);
    REQUIRE(p.ok());
    return cuts_of(p->strikes[0], p->strikes[0].node.nodes, cast_of(s));
  };
  CHECK(cuts("one", "node = \"server 1\"\npeer = \"scheduler\"\n").size() == 2);
  CHECK(cuts("one_way", "node = \"server 1\"\npeer = \"scheduler\"\n").size() == 1);
  CHECK(cuts("one", "node = \"server 1\"\n").size() == 10);
  CHECK(cuts("halves").size() == 2 * 3 * 3);
  CHECK(cuts("ring").size() == 2 * 2);  // 0-2 and 1-3
  const auto bridge = cuts("bridge");
  for (const auto& [from, to] : bridge) {
    CHECK_FALSE(from == server_role(0));
    CHECK_FALSE(to == server_role(0));
  }
  CHECK(bridge.size() == 2 * 3 * 2);
}

TEST_CASE("what is drawn can be written down, read back and planned, and seeds differ") {
  std::set<std::string> all;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto s = draw(seed);
    const auto text = config::to_toml(s);
    const auto back = config::parse_scenario(text, "x", all_words());
    INFO(text);
    REQUIRE(back.ok());
    CHECK(back->SerializeAsString() == s.SerializeAsString());
    CHECK(chaos::plan_of(s, target::in_virtual_time).ok());
    CHECK(chaos::plan_of(made_explicit(s), target::in_virtual_time).ok());
    all.insert(text);
  }
  CHECK(all.size() == 300);
}

TEST_CASE("half of the seeds draw filters, every one of them, in chains of up to four") {
  std::map<std::string, int> met;
  std::map<int, int> lengths;
  int with = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto s = draw(seed);
    for (const auto& name : filters_in(s)) ++met[name];
    with += !filters_in(s).empty();
    ++lengths[s.filters().push_size()];
    ++lengths[s.filters().pull_size()];
  }
  CHECK(with > 400);
  CHECK(with < 600);
  CHECK(lengths.size() == 5);
  for (const auto& [length, count] : lengths) CHECK(count > 100);
  CHECK(met.size() == 11);
  for (const auto& [name, count] : met) {
    INFO(name);
    CHECK(count > 15);
  }
}

TEST_CASE("shrinking leaves what is needed and nothing else") {
  auto s = draw(11);
  s.clear_faults();
  for (int i = 0; i < 9; ++i) {
    auto& f = *s.add_faults();
    f.set_kind(i == 3 ? "pause" : i == 7 ? "drain" : "kill");
    f.set_node("server 0");
    f.set_lasts(1'000'000);
    f.set_at(i * 1'000'000);
  }
  std::size_t runs = 0;
  shrinking how;
  how.breaks = [](const config::Scenario& c) {
    bool pause = false, drain = false;
    for (const auto& f : c.faults()) {
      pause |= f.kind() == "pause";
      drain |= f.kind() == "drain";
    }
    return pause && drain && c.workload().clocks() >= 8;
  };
  const auto small = shrink(s, how, &runs);
  CHECK(small.faults_size() == 2);
  CHECK(small.workload().clocks() < 16);
  CHECK(small.cluster().slots() == 1);
  CHECK(runs <= how.most_runs);
}

TEST_CASE("shrinking leaves the filters that are needed") {
  auto s = draw(11);
  s.mutable_workload()->set_key_sets(3);
  for (const auto* name : {"fixed8", "value_delta", "key_cache", "zstd level=3"})
    for (auto* chain : {s.mutable_filters()->mutable_push(), s.mutable_filters()->mutable_pull()})
      *chain->Add() = name;
  shrinking how;
  how.breaks = [](const config::Scenario& c) {
    return filters_in(c).count("zstd") > 0 && c.filters().push_size() > 0 &&
           c.filters().push(0) == "fixed8";
  };
  const auto small = shrink(s, how);
  CHECK(small.filters().push_size() + small.filters().pull_size() == 2);
  CHECK(small.workload().key_sets() == 0);
  how.breaks = [](const config::Scenario&) { return true; };
  CHECK(filters_in(shrink(s, how)).empty());
}

TEST_CASE("timelines, pages and JUnit's XML are whole, whatever stands in them") {
  run_outcome o;
  o.nodes = {"scheduler", "server 0"};
  o.took = std::chrono::milliseconds(10);
  struck f;
  f.text = "kill: server 0";
  f.nodes = {"server 0"};
  f.from = std::chrono::milliseconds(2);
  f.to = std::chrono::milliseconds(5);
  o.faults = {f};
  o.happenings = {{std::chrono::milliseconds(3), "server 0", "<crashes> & \"burns\""}};
  o.violations = {{"exactly once", "1 < 2", {4'000'000}}};
  const auto text = timeline_text("x", o);
  CHECK(has(text, "2.000 ms              [kill: server 0] begins"));
  CHECK(has(text, "BROKEN: exactly once: 1 < 2"));
  const auto page = timeline_page("a <b>", o);
  CHECK(has(page, "<title>a &lt;b&gt;</title>"));
  CHECK(has(page, "<rect"));
  CHECK(has(page, "&lt;crashes&gt; &amp; &quot;burns&quot;"));
  CHECK_FALSE(has(page, "<crashes>"));
  const auto xml = junit_xml({{"a", 1, ""}, {"b\"", 2, "x<y"}});
  CHECK(has(xml, "tests=\"2\" failures=\"1\""));
  CHECK(has(xml, "name=\"b&quot;\""));
  CHECK(has(xml, "message=\"x&lt;y\""));
}

TEST_CASE("a cell that is not covered is named") {
  coverage c;
  for (const auto& cell : all_cells()) c[{cell.kind, cell.state}] = 3;
  CHECK(thin_cells(c, 3).empty());
  c.erase({all_cells()[5].kind, all_cells()[5].state});
  REQUIRE(thin_cells(c, 1).size() == 1);
  CHECK(thin_cells(c, 4).size() == all_cells().size());
}
