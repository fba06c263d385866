// A server's rules of consistency, message by message.

#include <doctest/doctest.h>

#include <cmath>

#include "actors/server/plan.hpp"
#include "tests/support/toy_job.hpp"
#include "tests/support/views.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

struct fixture {
  meter work;
  std::unique_ptr<shard_host> host;
  shard* s = nullptr;
  asker next = 1;
  instant now;

  explicit fixture(std::uint32_t slots, bool bounded, std::uint64_t staleness,
                   const char* combine = "each") {
    toy_settings toy;
    toy.slots = slots;
    toy.function = "add";
    toy.combine = combine;
    auto plan = plan_of(toy, bounded, staleness);
    plan.mutable_tables(0)->clear_schedule_parameters();
    plan.mutable_tables(0)->set_initialiser("constant");
    plan.mutable_tables(0)->set_initialiser_a(100);
    REQUIRE(make_tables(plan).ok());
    auto settings = host_settings_of(plan, 0, 1);
    settings.lease = {};
    host = std::make_unique<shard_host>(
        settings, [plan] { return *make_tables(plan); }, work);
  }
  fixture& serving() {
    host->install(view_of_servers(1, 5), now);
    s = host->find(0);
    REQUIRE(s != nullptr);
    return *this;
  }
  pb::SlotNumbers adopt(std::uint64_t epoch) {
    pb::AdoptSlot request;
    request.set_epoch(epoch);
    request.set_shard_epoch(5);
    const auto out = host->on_adopt(next++, request, now);
    REQUIRE(out.adoptions.size() == 1);
    return out.adoptions[0].reply;
  }
  pb::PushHeader push_header(std::uint32_t slot, std::uint64_t clock, std::uint32_t index = 0,
                             bool last = true) {
    pb::PushHeader h;
    h.set_shard_epoch(5);
    h.set_slot(slot);
    h.set_epoch(1);
    h.set_clock(clock);
    h.set_index(index);
    h.set_last(last);
    h.set_hold_ns(duration(1s).count());
    return h;
  }
  // One key, position 7.
  answers push(const pb::PushHeader& h, std::vector<float> values = {1},
               std::vector<position> keys = {7}) {
    return host->on_push(next++, h, blob::copy_of(span<const position>(keys)),
                         blob::copy_of(span<const float>(values)), now);
  }
  answers pull(std::uint32_t slot, std::uint64_t clock, bool observer = false,
               std::vector<position> keys = {7}) {
    pb::PullHeader h;
    h.set_shard_epoch(5);
    h.set_slot(slot);
    h.set_clock(clock);
    h.set_observer(observer);
    h.set_hold_ns(duration(1s).count());
    return host->on_pull(next++, h, blob::copy_of(span<const position>(keys)), now);
  }
  static float value(const answers& a, std::size_t i = 0) {
    REQUIRE(a.pulls.size() > i);
    REQUIRE(a.pulls[i].reply.outcome() == pb::DONE);
    return a.pulls[i].values.as<float>()[0];
  }
  static pb::Outcome outcome(const answers& a) {
    REQUIRE(a.pushes.size() == 1);
    return a.pushes[0].reply.outcome();
  }
};

}  // namespace

TEST_CASE("a server without a view serves nobody") {
  fixture f(1, true, 0);
  CHECK(fixture::outcome(f.push(f.push_header(0, 0))) == pb::NOT_SERVING);
  CHECK(f.pull(0, 0).pulls[0].reply.outcome() == pb::NOT_SERVING);
  CHECK(f.adopt(0).outcome() == pb::NOT_SERVING);
}

TEST_CASE("a push below the recorded clock is acknowledged and not applied") {
  fixture f(1, false, 0);
  f.serving();
  CHECK(fixture::outcome(f.push(f.push_header(0, 0))) == pb::DONE);
  CHECK(fixture::outcome(f.push(f.push_header(0, 0))) == pb::DONE);
  CHECK(fixture::value(f.pull(0, 1)) == 101);
}

TEST_CASE("a push whose predecessor is missing is refused with what is expected") {
  fixture f(1, false, 0);
  f.serving();
  f.push(f.push_header(0, 0, 0, false));
  const auto out = f.push(f.push_header(0, 1));
  CHECK(fixture::outcome(out) == pb::MISSING);
  CHECK(out.pushes[0].reply.expected_clock() == 0);
  CHECK(out.pushes[0].reply.expected_index() == 1);
}

TEST_CASE("a request cut by another view is refused with the server's") {
  fixture f(1, false, 0);
  f.serving();
  auto h = f.push_header(0, 0);
  h.set_shard_epoch(4);
  const auto out = f.push(h);
  CHECK(fixture::outcome(out) == pb::STALE_VIEW);
  CHECK(out.pushes[0].reply.view().number() == 5);
}

TEST_CASE("lengths, table, slot and order that do not fit are error replies and use up no number") {
  fixture f(1, false, 0);
  f.serving();
  CHECK(fixture::outcome(f.push(f.push_header(0, 0), {1, 2})) == pb::BAD_REQUEST);
  CHECK(fixture::outcome(f.push(f.push_header(0, 0), {1, 2}, {7, 7})) == pb::BAD_REQUEST);
  CHECK(fixture::outcome(f.push(f.push_header(3, 0))) == pb::BAD_REQUEST);
  auto h = f.push_header(0, 0);
  h.set_table(9);
  CHECK(fixture::outcome(f.push(h)) == pb::BAD_REQUEST);
  CHECK(f.pull(0, 0, false, {7, 3}).pulls[0].reply.outcome() == pb::BAD_REQUEST);
  CHECK(fixture::outcome(f.push(f.push_header(0, 0))) == pb::DONE);
}

TEST_CASE("pulling an unknown key gives its initial value and creates nothing") {
  fixture f(1, false, 0);
  f.serving();
  CHECK(fixture::value(f.pull(0, 0)) == 100);
  CHECK(f.s->tables()[0]->rows() == 0);
}

TEST_CASE("a push of not-a-number is rejected, counted, and uses up its number") {
  fixture f(1, false, 0);
  f.serving();
  CHECK(fixture::outcome(f.push(f.push_header(0, 0), {NAN})) == pb::REJECTED);
  CHECK(fixture::outcome(f.push(f.push_header(0, 1), {INFINITY})) == pb::REJECTED);
  CHECK(f.s->rejected(0) == 2);
  CHECK(f.s->tables()[0]->rows() == 0);
  CHECK(fixture::outcome(f.push(f.push_header(0, 2))) == pb::DONE);
  CHECK(fixture::value(f.pull(0, 3)) == 101);
}

TEST_CASE("a result that overflows is rejected and leaves the row as it was") {
  fixture f(1, false, 0);
  f.serving();
  CHECK(fixture::outcome(f.push(f.push_header(0, 0), {3e38f})) == pb::DONE);
  CHECK(fixture::outcome(f.push(f.push_header(0, 1), {3e38f})) == pb::REJECTED);
  CHECK(fixture::value(f.pull(0, 2)) == 3e38f);
}

TEST_CASE(
    "bulk-synchronous: a clock is applied when all slots have sent it, and acknowledged then") {
  fixture f(2, true, 0);
  f.serving();
  CHECK(f.push(f.push_header(0, 0)).pushes.empty());
  CHECK(fixture::value(f.pull(1, 0)) == 100);
  CHECK(f.pull(0, 1).pulls.empty());  // held
  const auto out = f.push(f.push_header(1, 0), {5});
  CHECK(out.pushes.size() == 2);
  CHECK(fixture::value(out) == 106);  // the held pull
}

TEST_CASE("bulk-synchronous: the version before the last clock stays readable, older ones do not") {
  fixture f(1, true, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  f.push(f.push_header(0, 1), {10});
  CHECK(fixture::value(f.pull(0, 2)) == 111);
  CHECK(fixture::value(f.pull(0, 1)) == 101);
  CHECK(f.pull(0, 0).pulls[0].reply.outcome() == pb::STALE_EPOCH);
}

TEST_CASE("bulk-synchronous: several pushes of a clock count as one version") {
  fixture f(1, true, 0, "sum");
  f.serving();
  CHECK(f.push(f.push_header(0, 0, 0, false)).pushes.empty());
  CHECK(fixture::value(f.pull(0, 0)) == 100);
  CHECK(f.push(f.push_header(0, 0, 1, true), {2}).pushes.size() == 2);
  CHECK(fixture::value(f.pull(0, 1)) == 103);
}

TEST_CASE("a repeated push that is still pending is answered with the others, once each") {
  fixture f(2, true, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  CHECK(f.push(f.push_header(0, 0)).pushes.empty());
  CHECK(f.push(f.push_header(1, 0)).pushes.size() == 3);
  CHECK(fixture::value(f.pull(0, 1)) == 102);
}

TEST_CASE("the mean is over the slots that are active in the clock") {
  fixture f(3, true, 0, "mean");
  f.serving();
  auto finish = f.push_header(2, 0);
  finish.set_finish(true);
  f.push(finish, {}, {});
  f.push(f.push_header(0, 0), {2});
  f.push(f.push_header(1, 0), {6});
  CHECK(fixture::value(f.pull(0, 1)) == 104);
}

TEST_CASE("bounded delay: a pull waits for the slowest slot, and staleness is measured") {
  fixture f(2, true, 1);
  f.serving();
  f.push(f.push_header(0, 0));
  const auto ahead = f.pull(0, 1);
  CHECK(fixture::value(ahead) == 101);
  CHECK(ahead.pulls[0].reply.staleness() == 1);
  f.push(f.push_header(0, 1));
  CHECK(f.pull(0, 2).pulls.empty());
  const auto out = f.push(f.push_header(1, 0));
  CHECK(fixture::value(out) == 103);
  CHECK(out.pulls[0].reply.staleness() == 1);
}

TEST_CASE("a finished slot no longer counts") {
  fixture f(2, true, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  auto finish = f.push_header(1, 0);
  finish.set_finish(true);
  const auto out = f.push(finish, {}, {});
  CHECK(out.pushes.size() == 2);  // the finish, and the clock that waited for it
  CHECK(fixture::value(f.pull(0, 1)) == 101);
}

TEST_CASE("what is held is answered at its deadline with whom it waits for") {
  fixture f(3, true, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  f.pull(0, 1);
  CHECK(f.host->on_time({duration(999ms).count()}).pulls.empty());
  const auto out = f.host->on_time({duration(1s).count()});
  REQUIRE(out.pulls.size() == 1);
  REQUIRE(out.pushes.size() == 1);
  for (const auto& waiting : {out.pulls[0].reply.waiting(), out.pushes[0].reply.waiting()}) {
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].slot() == 1);
    CHECK(waiting[1].slot() == 2);
    CHECK(waiting[1].clock() == 0);
  }
  CHECK(f.s->held_pulls() == 0);
}

TEST_CASE("a slot that runs ahead of the bound without pulling is put off") {
  fixture f(2, true, 1);
  f.serving();
  f.push(f.push_header(0, 0));
  f.push(f.push_header(0, 1));
  const auto out = f.push(f.push_header(0, 2));
  CHECK(fixture::outcome(out) == pb::LATER);
  CHECK(out.pushes[0].reply.waiting(0).slot() == 1);
}

TEST_CASE(
    "where clocks are gathered, a slot may be a few clocks ahead of what the shard has heard") {
  fixture f(2, true, 0);
  f.serving();
  std::uint64_t clock = 0;
  while (f.push(f.push_header(0, clock)).pushes.empty()) ++clock;  // held until its clock is whole
  CHECK(clock == 17);
  CHECK(fixture::outcome(f.push(f.push_header(0, clock))) == pb::LATER);
}

TEST_CASE("a slot's new life is told where to go on, and its old one is fenced") {
  fixture f(1, false, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  f.push(f.push_header(0, 1, 0, false));
  const auto numbers = f.adopt(2);
  CHECK(numbers.outcome() == pb::DONE);
  CHECK(numbers.next_clock() == 1);
  CHECK(numbers.next_index() == 1);
  CHECK(fixture::outcome(f.push(f.push_header(0, 1, 1))) == pb::STALE_EPOCH);
  CHECK(f.adopt(1).outcome() == pb::STALE_EPOCH);
}

TEST_CASE("an observer reads the latest values and holds nothing back") {
  fixture f(2, true, 0);
  f.serving();
  f.push(f.push_header(0, 0));
  CHECK(fixture::value(f.pull(0, 9, true)) == 100);
  f.push(f.push_header(1, 0));
  CHECK(fixture::value(f.pull(0, 0, true)) == 102);
  CHECK(f.s->ledger().slowest() == 1);
}

TEST_CASE("a range pull gives rows in ascending position, in pieces") {
  fixture f(1, false, 0);
  f.serving();
  f.push(f.push_header(0, 0), {1, 2, 3}, {5, 6, ~position{0}});
  pb::PullHeader h;
  h.set_shard_epoch(5);
  h.set_observer(true);
  h.set_range(true);
  h.set_first(0);
  h.set_last(~position{0});
  h.set_limit(2);
  auto out = f.host->on_pull(1, h, {}, f.now);
  REQUIRE(out.pulls[0].reply.more());
  CHECK(out.pulls[0].keys.as<position>()[1] == 6);
  h.set_first(out.pulls[0].reply.next());
  out = f.host->on_pull(2, h, {}, f.now);
  CHECK_FALSE(out.pulls[0].reply.more());
  REQUIRE(out.pulls[0].values.size() == sizeof(float));
  CHECK(out.pulls[0].values.as<float>()[0] == 103);
}

TEST_CASE("bulk-synchronous: a slot's range pull reads its version, as a pull of keys does") {
  fixture f(2, true, 0);
  f.serving();
  const auto range = [&](std::uint64_t clock, std::uint64_t limit = 100) {
    pb::PullHeader h;
    h.set_shard_epoch(5);
    h.set_slot(0);
    h.set_clock(clock);
    h.set_hold_ns(duration(1s).count());
    h.set_range(true);
    h.set_last(~position{0});
    h.set_limit(limit);
    return f.host->on_pull(f.next++, h, {}, f.now);
  };
  CHECK(range(0, 0).pulls[0].reply.outcome() == pb::BAD_REQUEST);
  f.push(f.push_header(0, 0), {1, 2}, {5, 6});
  CHECK(range(1).pulls.empty());  // held until all have sent clock 0
  const auto released = f.push(f.push_header(1, 0), {10}, {6});
  REQUIRE(released.pulls.size() == 1);
  CHECK(released.pulls[0].values.as<float>()[1] == 112);
  f.push(f.push_header(0, 1), {1, 1}, {6, 7});
  f.push(f.push_header(1, 1), {1}, {7});
  const auto before = range(1);
  REQUIRE(before.pulls[0].keys.as<position>().size() == 2);  // 7 did not exist yet
  CHECK(before.pulls[0].values.as<float>()[1] == 112);
  const auto after = range(2);
  REQUIRE(after.pulls[0].keys.as<position>().size() == 3);
  CHECK(after.pulls[0].values.as<float>()[1] == 113);
}

TEST_CASE("while its rows are replaced a server neither takes pushes nor answers pulls") {
  fixture f(1, true, 0);
  f.serving();
  CHECK(f.adopt(1).outcome() == pb::DONE);
  f.s->begin_loading();
  CHECK(f.s->loading());
  const auto refused = f.pull(0, 0, true);
  REQUIRE(refused.pulls.size() == 1);
  CHECK(refused.pulls[0].reply.outcome() == pb::NOT_SERVING);
  CHECK(fixture::outcome(f.push(f.push_header(0, 0))) == pb::LATER);
  answers out;
  f.s->end_loading(nullptr, f.now, out);
  CHECK(fixture::value(f.pull(0, 0, true)) == 100);
}
