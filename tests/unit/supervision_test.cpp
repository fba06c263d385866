#include <doctest/doctest.h>

#include "actors/supervision/restart_policy.hpp"

using namespace troupe;
using namespace std::chrono_literals;

TEST_CASE("restarts back off, and stop when the budget of the window is spent") {
  restart_policy policy({3, 10s, 100ms, 300ms});
  CHECK(policy.on_death({0}) == duration(100ms));
  CHECK(policy.on_death({duration(1s).count()}) == duration(200ms));
  CHECK(policy.on_death({duration(2s).count()}) == duration(300ms));  // capped
  CHECK_FALSE(policy.on_death({duration(3s).count()}));
  CHECK(policy.restarts() == 3);
}

TEST_CASE("a death that has left the window is forgotten") {
  restart_policy policy({1, 10s, 100ms, 300ms});
  CHECK(policy.on_death({0}) == duration(100ms));
  CHECK(policy.on_death({duration(11s).count()}) == duration(100ms));
  CHECK_FALSE(policy.on_death({duration(12s).count()}));
}

TEST_CASE("a budget of nothing never restarts") {
  restart_policy policy({0, 10s, 100ms, 300ms});
  CHECK_FALSE(policy.on_death({0}));
}
