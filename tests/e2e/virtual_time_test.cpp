// troupe sim --clock virtual, as its user meets it.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

const words in_virtual_time{"--clock", "virtual"};

// A result page without its one line of real time.
std::string without_real_time(std::string json) {
  const auto at = json.find("\"wall_seconds\"");
  REQUIRE(at != std::string::npos);
  return json.erase(at, json.find('\n', at) - at);
}

std::string word_in(const result_page& page, const char* member) {
  return page.value("virtual").struct_value().fields().at(member).string_value();
}
double number_in(const result_page& page, const char* member) {
  return page.value("virtual").struct_value().fields().at(member).number_value();
}

// Stragglers, looks at the objective, a cut, zones: all that has chance or time in it.
const char* const eventful = R"(
[simulate]
objective_every = "5 ms"
[simulate.network]
jitter = "50 us"
[[simulate.zones]]
name = "rack"
count = 2
[[simulate.stragglers]]
probability = 0.1
[[simulate.faults]]
kind = "cut"
node = "worker 1"
peer = "server *"
at = "5 ms"
lasts = "30 ms"
)";

}  // namespace

TEST_CASE("two processes with one seed write the same pages, traces and results, byte for byte") {
  const auto run = [](const workplace& here, const words& more) {
    here.amend(eventful);
    return here.train(in_virtual_time + set("training.staleness=unbounded") +
                      set("model.output=\"\"") +
                      words{"--report", "page.html", "--trace", "trace.json"} + more);
  };
  const workplace first, second, third, fourth;
  const auto a = run(first, {}), b = run(second, {}), other = run(third, {"--seed", "2"}),
             bytes = run(fourth, set("simulate.serialise=true"));
  const auto file = [](const workplace& here, const char* name) {
    return read_file(here.path() + "/" + name);
  };
  CHECK(without_real_time(a.text()) == without_real_time(b.text()));
  CHECK(file(first, "page.html") == file(second, "page.html"));
  CHECK(file(first, "trace.json") == file(second, "trace.json"));
  CHECK(word_in(a, "trace_digest") != word_in(other, "trace_digest"));
  CHECK(file(first, "page.html") != file(third, "page.html"));
  CHECK(word_in(a, "trace_digest") == word_in(bytes, "trace_digest"));
  CHECK(file(first, "page.html") == file(fourth, "page.html"));
  CHECK(a.word("model_digest") == bytes.word("model_digest"));
}

TEST_CASE("a bulk-synchronous job has the model of its local run, on any network") {
  const workplace here;
  const auto local = here.train({});
  const auto expected = local.word("model_digest");
  CHECK(here.train(in_virtual_time).word("model_digest") == expected);
  const workplace troubled;
  troubled.amend(std::string(eventful) + R"(
[[simulate.links]]
from = "worker *"
to = "server *"
ordered = false
loss = 0.05
duplication = 0.05
jitter = "2 ms"
)");
  const auto lossy = troubled.train(in_virtual_time);
  CHECK(lossy.word("model_digest") == expected);
  CHECK(number_in(lossy, "lost") > 0);
  CHECK(number_in(lossy, "duplicated") > 0);
}

TEST_CASE("training ends when the objective has reached its target, and that is no failure") {
  const workplace here;
  here.amend("[simulate]\nobjective_every = \"2 ms\"\nobjective_target = 1200\n");
  const auto done = here.train(in_virtual_time + set("training.epochs=200"));
  CHECK(done.word("outcome") == "finished");
  const auto& target = done.value("virtual").struct_value().fields().at("target").struct_value();
  CHECK(target.fields().at("reached").bool_value());
  CHECK(target.fields().at("seconds").number_value() > 0);
  CHECK(done.number("examples") < 200 * 2000);
}

TEST_CASE("a trace is JSON that names every node") {
  const workplace here;
  here.train(in_virtual_time + words{"--trace", "trace.json"});
  const result_page trace(read_file(here.path() + "/trace.json"));
  CHECK(trace.value("traceEvents").list_value().values_size() > 100);
  for (const char* name : {"\"scheduler\"", "\"server 1\"", "\"worker 1\""})
    CHECK(trace.text().find(name) != std::string::npos);
}

TEST_CASE("what is wrong with a simulation is said before anything runs") {
  const workplace here;
  const auto fails = [&](const words& arguments, const std::string& why) {
    const auto end = here.sim(arguments);
    CHECK(end.exit_code == 2);
    INFO(end.err);
    CHECK(end.err.find(why) != std::string::npos);
  };
  fails({"--clock", "sundial"}, "--clock is real or virtual, not 'sundial'");
  fails({"--trace", "x"}, "--trace needs --clock virtual");
  fails({"--report", "x"}, "--report needs --clock virtual");
  fails(in_virtual_time + set("simulate.network.loss=2"), "simulate.network.loss");
  here.amend("[[simulate.links]]\nfrom = \"wroker 1\"\n");
  fails(in_virtual_time, "simulate.links[1].from: 'wroker 1' names no nodes");
}

TEST_CASE("calibrate prints a section that a job takes") {
  const workplace here;
  const auto end = here.troupe({"calibrate", "job.toml", "--rounds", "1", "--out", "costs.toml"});
  INFO(end.err);
  CHECK(end.exit_code == 0);
  CHECK(end.out.find("[simulate.cost]\nexample = ") != std::string::npos);
  CHECK(read_file(here.path() + "/costs.toml") == end.out);
  const auto done = here.train(in_virtual_time + words{"--costs", "costs.toml"});
  CHECK(done.number("seconds") > 0);
}
