// Asynchronous counting amid mixed faults: the sum at the end is exactly that of all pushes.

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/virtual_jobs.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// A job of about half a second.
virtual_job counting_job(std::uint64_t seed) {
  virtual_job j;
  j.bounded = false;
  j.servers = 3;
  j.counts.emplace();
  j.counts->seed = seed;
  j.counts->clocks = 400;
  j.counts->keys = 12;
  j.settings.engine.seed = seed;
  j.settings.engine.network.between.latency = 300us;
  return j;
}

double sum(const virtual_run& r) {
  return r.status.tables(0).l1();
}

sim::node_pattern nodes(const std::string& text) {
  return *sim::node_pattern::parse(text);
}

// Faults that one copy survives: no two servers at once, and time between them to fill new copies.
void draw_faults(virtual_job& j, std::uint64_t seed, const std::string& folder) {
  using kind = planned_fault::kind;
  random_source random(seed_of(seed, 77));
  j.folder = folder;
  const auto name = [&](const char* role, std::uint32_t count) {
    return std::string(role) + " " + std::to_string(random.below(count));
  };
  auto at = duration(5ms);
  bool drained = false, joined = false;
  for (int i = 0; i < 5; ++i) {
    const auto who = name("server", 3);
    switch (random.below(8)) {
      case 0:  // dead for good, or back before or after its silence is noticed
        j.crash(who.c_str(), at, duration(random.below(3)) * 20'000'000 + 1ms);
        break;
      case 1:
        j.fault(kind::pause, who.c_str(), at, duration(1ms) * (1 + random.below(80)));
        break;
      case 2:
        j.crash(name("worker", 3).c_str(), at, 10ms);
        break;
      case 3:
        j.fault(kind::pause, name("worker", 3).c_str(), at, duration(1ms) * (1 + random.below(80)));
        break;
      case 4:
        j.crash("scheduler", at, duration(1ms) * (1 + random.below(40)));
        break;
      case 5:
        j.settings.faults.push_back({kind::cut, nodes(name("worker", 3)), nodes(who), at,
                                     duration(1ms) * (1 + random.below(60))});
        break;
      case 6:
        if (!std::exchange(joined, true)) j.fault(kind::join, "server 3", at, {});
        break;
      default:
        if (!std::exchange(drained, true)) j.fault(kind::drain, who.c_str(), at, {});
        break;
    }
    at += 110ms;
  }
  if (random.below(2) == 0)  // and all the while links that lose, double and reorder
    for (const char* from : {"worker *", "server *"}) {
      sim::link_override link;
      link.from = nodes(from);
      link.to = nodes("server *");
      link.ordered = false;
      link.loss = 0.02;
      link.duplication = 0.05;
      link.jitter = 2ms;
      j.settings.engine.network.links.push_back(link);
    }
}

}  // namespace

TEST_CASE("200 seeds of mixed faults: every push counts exactly once") {
  temporary_folder folder;
  const auto* more = std::getenv("TROUPE_SEEDS");  // "FIRST LAST", for longer sweeps
  unsigned long long first = 1, last = 200;
  if (more != nullptr) REQUIRE(std::sscanf(more, "%llu %llu", &first, &last) == 2);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    auto j = counting_job(seed);
    draw_faults(j, seed, folder / std::to_string(seed));
    CAPTURE(seed);
    const auto r = j.finished();
    CHECK(sum(r) == sum_of(*j.counts));
  }
}
