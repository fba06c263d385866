#include <doctest/doctest.h>

#include "apps/calibration/fit.hpp"
#include "core/random.hpp"

namespace troupe {

TEST_CASE("the prices of work are found from timed turns, outliers or not") {
  random_source random(1);
  turn_timings timings;
  for (int kind = 0; kind < 300; ++kind) {
    sim::turn_facts t;
    t.work[static_cast<std::size_t>(work::examples)] = random.below(100);
    t.work[static_cast<std::size_t>(work::keys_pulled)] = random.below(1000);
    t.sent = random.below(5);
    t.received = 1;
    const double truth =
        80.0 * static_cast<double>(t.work[static_cast<std::size_t>(work::examples)]) +
        12.0 * static_cast<double>(t.work[static_cast<std::size_t>(work::keys_pulled)]) +
        900.0 * static_cast<double>(t.sent) + 1500.0;
    for (int i = 0; i < 5; ++i) timings.add(t, truth * (i == 0 ? 40 : 0.98 + 0.01 * i));
  }
  const auto f = timings.fitted();
  CHECK(f.price.of_work[static_cast<std::size_t>(work::examples)] ==
        doctest::Approx(80).epsilon(0.03));
  CHECK(f.price.of_work[static_cast<std::size_t>(work::keys_pulled)] ==
        doctest::Approx(12).epsilon(0.03));
  CHECK(f.price.message_sent == doctest::Approx(900).epsilon(0.05));
  CHECK(f.price.message_received == doctest::Approx(1500).epsilon(0.05));
  CHECK(f.price.of_work[static_cast<std::size_t>(work::features)] == 0);
  CHECK(f.median_error < 0.03);
  CHECK(timings.turns() == 1500);
}

TEST_CASE("no price is below zero") {
  turn_timings timings;
  for (std::uint64_t n = 1; n < 50; ++n) {
    sim::turn_facts t;
    t.received = 1;
    t.sent = n;
    timings.add(t, 10'000.0 - 100.0 * static_cast<double>(n));
  }
  const auto f = timings.fitted();
  CHECK(f.price.message_sent >= 0);
  CHECK(f.price.message_received > 0);
}

}  // namespace troupe
