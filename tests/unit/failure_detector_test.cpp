// Deaths are inferred from silence, but not from the detector's own sleep.

#include "actors/scheduler/failure_detector.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

instant at(duration d) {
  return {d.count()};
}

}  // namespace

TEST_CASE("a silent node is suspected, then dead, once each; a word in between clears it") {
  failure_detector d({1s, 2s});
  d.heard(server_role(0), at(0s));
  d.heard(server_role(1), at(0s));
  std::vector<role_id> suspected, dead;
  for (auto t = duration(0); t < 5s; t += 100ms) {
    if (t <= 1500ms) d.heard(server_role(1), at(t));
    const auto v = d.on_time(at(t));
    suspected.insert(suspected.end(), v.suspected.begin(), v.suspected.end());
    dead.insert(dead.end(), v.dead.begin(), v.dead.end());
    if (t == 1s) CHECK(d.suspects(server_role(0)));
    if (t == 1900ms) CHECK(dead.empty());
    if (t == 2s) CHECK(dead == std::vector<role_id>{server_role(0)});
  }
  CHECK(suspected == std::vector<role_id>{server_role(0), server_role(1)});
  CHECK(dead == std::vector<role_id>{server_role(0), server_role(1)});
  CHECK_FALSE(d.watches(server_role(0)));
}

TEST_CASE("what the detector slept is held against nobody") {
  failure_detector d({1s, 2s});
  d.heard(worker_role(3), at(0s));
  for (auto t = duration(0); t < 1s; t += 100ms) d.on_time(at(t));
  CHECK(d.on_time(at(60s)).dead.empty());  // it was paused for 59 s
  CHECK(d.on_time(at(60s + 400ms)).dead.empty());
  std::vector<role_id> dead;
  for (auto t = duration(60s + 500ms); t < 63s; t += 100ms) {
    const auto v = d.on_time(at(t));
    dead.insert(dead.end(), v.dead.begin(), v.dead.end());
  }
  CHECK(dead.size() == 1);
}
