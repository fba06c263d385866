// The checks of workloads, on histories that are right and on such as are not: a check that cannot
// fail checks nothing.
#include <doctest/doctest.h>

#include "apps/chaos/judge.hpp"
#include "apps/chaos/workload/workload.hpp"

using namespace troupe;
using namespace troupe::chaos;

namespace {

using kind = ledger_entry::kind;

// Two slots, one key, two clocks.
workload_settings small(std::optional<std::uint64_t> staleness) {
  workload_settings s;
  s.slots = 2;
  s.clocks = 2;
  s.keys = 1;
  s.key_space = 1;
  s.staleness = staleness;
  return s;
}

struct history {
  explicit history(std::unique_ptr<workload> w) : what(std::move(w)), check(what->check()) {}

  history& add(kind k, std::uint32_t slot, std::uint64_t clock, std::vector<double> values = {}) {
    ledger_entry e;
    e.what = k;
    e.slot = slot;
    e.clock = clock;
    e.life = slot + 1;
    e.at = {++now};
    e.values = std::move(values);
    check->on(e);
    return *this;
  }
  history& reads(std::uint32_t slot, std::uint64_t clock, double value) {
    return add(kind::pull_begins, slot, clock).add(kind::pull_ends, slot, clock, {value});
  }
  history& pushes(std::uint32_t slot, std::uint64_t clock) {
    return add(kind::push_begins, slot, clock).add(kind::push_ends, slot, clock);
  }
  history& ends_with(double value) {
    add(kind::final_values, 0, 0, {value});
    check->on_finished({});
    return *this;
  }
  std::string promise() const {
    return check->found().empty() ? "" : check->found().front().promise;
  }

  std::unique_ptr<workload> what;
  std::unique_ptr<history_check> check;
  std::int64_t now = 0;
};

history counting(std::optional<std::uint64_t> staleness) {
  return history(counters(small(staleness)));
}
history writing(std::optional<std::uint64_t> staleness) {
  return history(registers(small(staleness)));
}
history& all_pushed(history& h) {
  return h.pushes(0, 0).pushes(1, 0).pushes(0, 1).pushes(1, 1);
}

}  // namespace

TEST_CASE("counters: a right history is accepted") {
  auto h = counting(std::nullopt);
  h.reads(0, 0, 0).pushes(0, 0).reads(1, 0, 1).pushes(1, 0).reads(0, 1, 2).pushes(0, 1);
  h.reads(1, 1, 3).pushes(1, 1).ends_with(4);
  CHECK(h.promise() == "");
}

TEST_CASE("counters: a lost push, a doubled one, and one that is not seen are found") {
  auto lost = counting(std::nullopt), doubled = counting(std::nullopt),
       unseen = counting(std::nullopt);
  CHECK(all_pushed(lost).ends_with(3).promise() == "exactly once");
  CHECK(all_pushed(doubled).ends_with(5).promise() == "exactly once");
  CHECK(unseen.pushes(0, 0).reads(1, 0, 0).promise() == "an acknowledged push is seen");
  auto early = counting(std::nullopt);
  CHECK(early.pushes(0, 0).reads(1, 0, 2).promise() == "exactly once");
}

TEST_CASE("counters: a push that was begun and not acknowledged may be seen or not") {
  for (const double value : {0.0, 1.0}) {
    auto h = counting(std::nullopt);
    h.add(kind::push_begins, 0, 0).reads(1, 0, value);
    CHECK(h.promise() == "");
  }
}

TEST_CASE("counters: staleness and versions are held to the clock") {
  auto bulk = counting(0);
  // The other's push of clock 0 is missing at clock 1, although nobody was told that it counts.
  bulk.add(kind::push_begins, 0, 0).add(kind::push_begins, 1, 0).reads(0, 1, 1);
  CHECK(bulk.promise() == "bulk-synchronous versions");
  auto bounded = counting(1);
  bounded.add(kind::push_begins, 0, 0).add(kind::push_begins, 1, 0).reads(0, 1, 1);
  CHECK(bounded.promise() == "");
  auto ahead = counting(0);
  ahead.pushes(0, 0).reads(1, 0, 1);  // clock 0 must read version 0
  CHECK(ahead.promise() == "bulk-synchronous versions");
}

TEST_CASE("counters: an update of what was no number must not count") {
  auto settings = small(std::nullopt);
  settings.spoiled = {{1, 0}};
  history h(counters(settings));
  CHECK(all_pushed(h).ends_with(3).promise() == "");
}

TEST_CASE("registers: writes in order are accepted, and what was overwritten is not read again") {
  auto h = writing(std::nullopt);
  const auto value = [](std::uint32_t slot, std::uint64_t clock) {
    return 1.0 + slot + 2.0 * static_cast<double>(clock);
  };
  h.reads(0, 0, 0).pushes(0, 0).reads(1, 0, value(0, 0)).pushes(1, 0).reads(0, 1, value(1, 0));
  h.pushes(0, 1).pushes(1, 1).ends_with(value(1, 1));
  CHECK(h.promise() == "");
  auto stale = writing(std::nullopt);
  stale.pushes(0, 0).pushes(1, 0).reads(0, 1, value(0, 0));
  CHECK(stale.promise() == "an acknowledged push is seen");
  auto invented = writing(std::nullopt);
  CHECK(invented.reads(0, 0, 17).promise() == "order of writes");
  auto reordered = writing(0);  // the last of clock 0 is slot 1's
  all_pushed(reordered);
  CHECK(reordered.reads(0, 1, value(0, 0)).promise() == "bulk-synchronous versions");
}

TEST_CASE("registers: of two writes at once either may win") {
  for (const double value : {1.0, 2.0}) {
    auto h = writing(std::nullopt);
    h.add(kind::push_begins, 0, 0).add(kind::push_begins, 1, 0);
    h.add(kind::push_ends, 0, 0).add(kind::push_ends, 1, 0).reads(0, 1, value);
    CHECK(h.promise() == "");
  }
}

TEST_CASE(
    "training: other weights than without faults are found, and a model that learned nothing") {
  auto settings = small(0);
  settings.keys = 2;
  settings.key_space = 3;
  const std::shared_ptr<table_workload> w = training(settings);
  const auto played = [&](double first) {
    std::shared_ptr<history_check> check = w->check();
    ledger_entry e;
    e.what = kind::pull_ends;
    e.values.assign(w->places_of(0, 0).size(), first);
    check->on(e);
    return check;
  };
  const auto calm = played(0.5);
  std::shared_ptr<history_check> kept = w->check(), broken = w->check();
  for (auto& [check, value] : {std::pair(kept, 0.5), std::pair(broken, 0.25)}) {
    check->compare_with(calm);
    ledger_entry e;
    e.what = kind::pull_ends;
    e.values.assign(w->places_of(0, 0).size(), value);
    check->on(e);
  }
  CHECK(kept->found().empty());
  REQUIRE(broken->found().size() == 1);
  CHECK(broken->found().front().promise == "bulk-synchronous runs are bit-identical");
  std::shared_ptr<history_check> useless = w->check();
  ledger_entry last;
  last.what = kind::final_values;
  last.values = {100, -100, 100};
  useless->on(last);
  useless->on_finished({});
  REQUIRE(useless->found().size() == 1);
  CHECK(useless->found().front().promise == "the model");
}

TEST_CASE("an error that names nobody, a wrong outcome and a job that never ends are found") {
  auto scenario = *config::parse_scenario("[expect]\nleast_faults = 0\noutcome = \"failed\"\n", "x",
                                          all_words());
  const auto verdict = [&](pb::JobStatus::Phase phase, const char* text, bool in_time) {
    judge j(scenario, table_workload_of(scenario));
    pb::JobStatus s;
    s.set_phase(phase);
    s.set_text(text);
    run_outcome o;
    j.end(s, in_time, {}, o);
    return o.ok() ? std::string() : o.violations.front().promise;
  };
  CHECK(verdict(pb::JobStatus::FAILED, "server 1: no space left", true) == "");
  CHECK(verdict(pb::JobStatus::FAILED, "something went wrong", true) ==
        "an error names who it is of");
  CHECK(verdict(pb::JobStatus::FINISHED, "", true) == "exactly once");  // and nobody read anything
  CHECK(verdict(pb::JobStatus::TRAINING, "", false) == "after the last fault every job ends");
  scenario.mutable_expect()->set_outcome("finished");
  CHECK(verdict(pb::JobStatus::FAILED, "server 1: gone", true) ==
        "after the last fault every job finishes");
}
