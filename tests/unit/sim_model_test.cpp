// Who is where, what work costs, whose turn it is, and what is noted of it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/cost/cost_model.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/processors.hpp"
#include "sim/network/topology.hpp"
#include "sim/record/recorder.hpp"

namespace troupe::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

node_pattern pattern(const std::string& text) {
  const auto p = node_pattern::parse(text);
  REQUIRE(p.ok());
  return *p;
}

turn_facts computed(std::uint64_t examples) {
  turn_facts t;
  t.work[static_cast<std::size_t>(work::examples)] = examples;
  return t;
}

}  // namespace

TEST_CASE("nodes are numbered: the scheduler, the servers, the workers") {
  const cast_of_nodes cast{2, 3};
  CHECK(cast.size() == 6);
  for (node_number n = 0; n < cast.size(); ++n) CHECK(cast.number(cast.role(n)) == n);
  CHECK(cast.role(2) == server_role(1));
  CHECK(cast.role(3) == worker_role(0));
  CHECK(cast.number(worker_role(3)) == nowhere);
}

TEST_CASE("patterns name nodes, and nonsense is refused") {
  CHECK(pattern("*").holds(the_scheduler, ""));
  CHECK(pattern("server *").holds(server_role(7), ""));
  CHECK_FALSE(pattern("server *").holds(worker_role(7), ""));
  CHECK(pattern("worker 3").holds(worker_role(3), ""));
  CHECK_FALSE(pattern("worker 3").holds(worker_role(30), ""));
  CHECK(pattern("zone rack-1").holds(worker_role(3), "rack-1"));
  CHECK_FALSE(pattern("zone rack-1").holds(worker_role(3), "rack-11"));
  for (const char* text : {"", "workers", "worker", "worker x", "worker 3x", "node 1", "worker -1"})
    CHECK_FALSE(node_pattern::parse(text).ok());
}

TEST_CASE("zones hold nodes in turn, and what is near is told from what is far") {
  network_settings s;
  s.between.latency = milliseconds(10);
  s.zones.push_back({"rack", 2, pattern("worker *"), milliseconds(1), 100, 0});
  s.zones.push_back({"store", 1, pattern("*"), milliseconds(2), 0, 0});
  const cast_of_nodes cast{2, 4};
  const topology map(cast, s);
  CHECK(map.zone_name(cast.number(worker_role(0))) == "rack-0");
  CHECK(map.zone_name(cast.number(worker_role(1))) == "rack-1");
  CHECK(map.zone_name(cast.number(worker_role(2))) == "rack-0");
  CHECK(map.zone_name(cast.number(server_role(1))) == "store");
  CHECK(map.between(3, 5).latency == milliseconds(1));
  CHECK(map.between(3, 5).bandwidth == 100);
  CHECK(map.between(3, 4).latency == milliseconds(10));
  CHECK(map.between(1, 2).latency == milliseconds(2));
  CHECK(map.matching(pattern("zone rack-1")) == std::vector<node_number>{4, 6});
}

TEST_CASE("a link says what is different, one way or both, and a later one wins") {
  network_settings s;
  s.between.latency = milliseconds(10);
  link_override slow, one_way;
  slow.from = pattern("worker 0");
  slow.latency = milliseconds(50);
  one_way.from = pattern("worker 0");
  one_way.to = pattern("server *");
  one_way.both_ways = false;
  one_way.loss = 0.5;
  s.links = {slow, one_way};
  const topology map({1, 2}, s);
  CHECK(map.between(2, 1).latency == milliseconds(50));
  CHECK(map.between(1, 2).latency == milliseconds(50));
  CHECK(map.between(1, 3).latency == milliseconds(10));
  CHECK(map.between(2, 1).loss == 0.5);
  CHECK(map.between(1, 2).loss == 0);
}

TEST_CASE("a turn costs its work and its messages, divided by the node's speed") {
  prices p;
  p.of_work[static_cast<std::size_t>(work::examples)] = 100;
  p.of_work[static_cast<std::size_t>(work::keys_pulled)] = 3;
  p.message_sent = 1000;
  p.message_received = 500;
  cost_model costs(p, 1);
  costs.set_speed(2, 0.5);
  turn_facts t = computed(10);
  t.work[static_cast<std::size_t>(work::keys_pulled)] = 7;
  t.sent = 2;
  t.received = 1;
  CHECK(costs.of_turn(1, t) == duration(1000 + 21 + 2000 + 500));
  CHECK(costs.of_turn(2, t) == duration(2 * (1000 + 21 + 2000 + 500)));
  CHECK(costs.clocks() == 2);
}

TEST_CASE("stragglers are drawn by seed, node and clock alone") {
  prices p;
  p.of_work[static_cast<std::size_t>(work::examples)] = 1000;
  const auto slow_clocks = [&](std::uint64_t seed, bool others) {
    cost_model costs(p, seed);
    costs.add_straggler(1, {pattern("*"), 0.05, slowdown::constant, 5, 2});
    std::string marks;
    for (int clock = 0; clock < 2000; ++clock) {
      if (others) costs.of_turn(2, computed(1));
      const auto takes = costs.of_turn(1, computed(1));
      CHECK((takes == duration(1000) || takes == duration(5000)));
      marks += takes == duration(5000) ? 'x' : '.';
    }
    return marks;
  };
  CHECK(slow_clocks(1, false) == slow_clocks(1, true));
  CHECK(slow_clocks(1, false) != slow_clocks(2, false));
  const auto marks = slow_clocks(1, false);
  const auto slow = std::count(marks.begin(), marks.end(), 'x');
  CHECK(slow > 70);
  CHECK(slow < 130);
}

TEST_CASE("the distributions of stragglers have the mean they are given") {
  prices p;
  p.of_work[static_cast<std::size_t>(work::examples)] = 1000;
  for (const auto how : {slowdown::exponential, slowdown::pareto}) {
    cost_model costs(p, 5);
    costs.add_straggler(0, {pattern("*"), 1, how, 4, 3});
    double sum = 0;
    for (int clock = 0; clock < 20'000; ++clock)
      sum += static_cast<double>(costs.of_turn(0, computed(1)).count());
    CHECK(sum / 20'000 > 3900);
    CHECK(sum / 20'000 < 4100);
  }
}

TEST_CASE("events come by time, and at one time in the order they were added") {
  event_queue<int> queue;
  random_source random(1);
  for (int i = 0; i < 1000; ++i) queue.add({static_cast<std::int64_t>(random.below(50))}, i);
  std::int64_t last_time = -1;
  int last = -1;
  for (int i = 0; i < 1000; ++i) {
    const auto at = queue.next().ns;
    const int what = queue.take();
    CHECK((at > last_time || (at == last_time && what > last)));
    last_time = at;
    last = what;
  }
  CHECK(queue.empty());
}

namespace {

// Items are durations in ms; the log says who began what when.
struct turns {
  explicit turns(host_settings hosts)
      : cpu(4, hosts,
            {[this](node_number n, int ms, instant t) {
               log += std::to_string(n) + "@" + std::to_string(t.ns / 1'000'000) + " ";
               return duration(milliseconds(ms));
             },
             [this](node_number n, instant t) { queue.add(t, n); }, [](node_number, instant) {}}) {}
  void run() {
    while (!queue.empty()) {
      last = queue.next();
      cpu.turn_over(queue.take(), last);
    }
  }
  std::string log;
  instant last;
  event_queue<node_number> queue;
  processors<int> cpu;
};

}  // namespace

TEST_CASE("a node works on one thing at a time, in the order of coming") {
  turns t({});
  for (const int ms : {10, 0, 5}) t.cpu.offer(0, ms, {});
  t.cpu.offer(1, 3, {});
  t.run();
  CHECK(t.log == "0@0 1@0 0@10 0@10 ");
}

TEST_CASE("nodes of one host wait for a core, first come first served") {
  turns t({1, 2});
  for (const node_number n : {0u, 1u, 2u, 3u}) t.cpu.offer(n, 10, {});
  t.cpu.offer(0, 5, {});
  t.run();
  CHECK(t.log == "0@0 1@0 2@10 3@10 0@20 ");
}

TEST_CASE("a paused node does nothing, and goes on where it was") {
  turns t({});
  t.cpu.offer(0, 10, {});
  t.cpu.offer(0, 10, {});
  t.cpu.pause(0);
  t.run();
  CHECK(t.log == "0@0 ");
  t.cpu.pause(0);
  t.cpu.resume(0, {40'000'000});
  CHECK(t.log == "0@0 ");
  t.cpu.resume(0, {50'000'000});
  CHECK(t.log == "0@0 0@50 ");
  t.cpu.resume(0, {60'000'000});  // of no pause
  CHECK(t.log == "0@0 0@50 ");
}

TEST_CASE("a crashed node gives its core back and forgets what waited") {
  turns t({1, 1});
  for (const node_number n : {0u, 0u, 1u}) t.cpu.offer(n, 10, {});
  t.cpu.clear(0, {2'000'000});
  CHECK(t.log == "0@0 1@2 ");
  CHECK(t.cpu.waiting(0) == 0);
}

TEST_CASE("columns keep every moment while a run outgrows them") {
  columns c(1, milliseconds(1));
  const std::int64_t ms = 1'000'000;
  c.add(0, activity::compute, 0, 3 * ms / 2);
  c.add(0, activity::wait, 3 * ms / 2, 2 * ms);
  CHECK(c.result().nodes[0][1].compute == microseconds(500));
  CHECK(c.result().nodes[0][1].wait == microseconds(500));
  c.add(0, activity::transfer, 2 * ms, 1000 * ms);
  const auto t = c.result();
  CHECK(t.column == milliseconds(2));
  CHECK(t.nodes[0].size() == 500);
  CHECK(t.nodes[0][0].compute == microseconds(1500));
  CHECK(t.nodes[0][499].transfer == milliseconds(2));
  duration sum{};
  for (const auto& column : t.nodes[0]) sum += column.total();
  CHECK(sum == milliseconds(1000));
}

TEST_CASE("every moment of a node is compute, else transfer, else wait") {
  const cast_of_nodes cast{1, 1};
  recorder log(cast, {}, nullptr);
  const auto push = log.kind("push");
  CHECK(log.kind("push") == push);
  const auto at = [](std::int64_t ms) { return instant{ms * 1'000'000}; };
  log.turn_begins(2, push, at(10));
  log.turn_ends(2, at(30));
  log.departs(2, 1, push, 100, at(30));
  log.departs(2, 1, push, 100, at(35));
  log.arrives(2, 1, push, 100, at(40));
  log.turn_begins(1, push, at(40));
  log.arrives(2, 1, push, 100, at(50));
  log.turn_ends(1, at(60));
  const auto r = log.result(at(100));
  CHECK(r.nodes[2].name == "worker 0");
  CHECK(r.nodes[2].times.compute == milliseconds(20));
  CHECK(r.nodes[2].times.transfer == milliseconds(20));
  CHECK(r.nodes[2].times.wait == milliseconds(60));
  CHECK(r.nodes[1].times.compute == milliseconds(20));
  CHECK(r.nodes[1].times.transfer == milliseconds(10));
  CHECK(r.nodes[1].times.wait == milliseconds(70));
  CHECK(r.nodes[0].times.wait == milliseconds(100));
  CHECK(r.by_kind.at("push").messages == 2);
  CHECK(r.by_kind.at("push").bytes == 200);
  CHECK(r.nodes[1].bytes_received == 200);
}

TEST_CASE("the trace digest tells two histories apart") {
  const auto digest = [](std::int64_t arrival) {
    recorder log({1, 1}, {}, nullptr);
    const auto k = log.kind("push");
    for (int i = 0; i < 300; ++i) log.departs(2, 1, k, 10, {i});
    log.arrives(2, 1, k, 10, {arrival});
    return log.result({1000}).trace_digest;
  };
  CHECK(digest(500) == digest(500));
  CHECK(digest(500) != digest(501));
}

}  // namespace troupe::sim
