// What the protocol of pushes, pulls and slots promises, under a network that loses, repeats,
// delays and reorders, and under workers that crash.

#include <doctest/doctest.h>

#include "tests/support/mini_cluster.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

mini_cluster cluster_of(const toy_settings& toy, pb::JobPlan plan, std::uint32_t servers,
                        network_faults faults, std::uint64_t seed) {
  return mini_cluster(
      std::move(plan), servers,
      [toy](std::uint32_t s) { return std::make_unique<toy_program>(toy, s); }, faults, seed);
}

const network_faults calm{};
const network_faults rough{0.05, 0.05, 50ms, 0.002};

// Pushes the integer 1 to each of its keys, clock after clock, without looking.
class counting_program final : public slot_program {
 public:
  counting_program(std::uint64_t clocks, std::uint32_t slot) : clocks_(clocks), slot_(slot) {}
  std::uint64_t clocks() const override { return clocks_; }
  std::uint64_t examples_before(std::uint64_t clock) const override { return clock; }
  void run(slot_session& session, std::uint64_t clock) override {
    std::vector<key_id> ids;
    for (key_id k = 0; k < 40; ++k)
      if ((k + clock + slot_) % 3 != 0) ids.push_back(splitmix64(k));
    auto keys = session.kv().keys(0, ids);
    session.push(0, *keys, blob::copy_of(span<const float>(std::vector<float>(ids.size(), 1))), 0);
    session.end_clock({});
  }

 private:
  const std::uint64_t clocks_;
  const std::uint32_t slot_;
};

}  // namespace

TEST_CASE(
    "bulk-synchronous, a rough network and crashing workers leave the model's bytes as they are") {
  for (const char* combine : {"each", "sum"}) {
    toy_settings toy;
    toy.combine = combine;
    toy.two_tables = true;
    toy.keys = 60;
    auto undisturbed = cluster_of(toy, plan_of(toy), 1, calm, 1);
    REQUIRE(undisturbed.run());
    std::uint64_t crashes = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      INFO("seed " << seed << ", combine " << std::string(combine));
      auto disturbed = cluster_of(toy, plan_of(toy), 3, rough, seed);
      REQUIRE(disturbed.run());
      CHECK(disturbed.digest() == undisturbed.digest());
      for (std::uint32_t s = 0; s < toy.slots; ++s) crashes += disturbed.lives(s) - 1;
    }
    CHECK(crashes > 25);  // or the test has shown little
  }
}

TEST_CASE("bulk-synchronous penalties do not depend on how few keys a server gets") {
  // With two keys a push most servers get none of a slot's, yet its share of the data counts for
  // the rows of others.
  for (const char* function : {"adagrad", "ftrl", "adam"}) {
    toy_settings toy;
    toy.function = function;
    toy.combine = "sum";
    toy.keys = 2;
    toy.key_space = 6;
    toy.l1 = 0.5;
    toy.l2 = 2;
    auto one = cluster_of(toy, plan_of(toy), 1, calm, 1);
    auto five = cluster_of(toy, plan_of(toy), 5, calm, 1);
    REQUIRE(one.run());
    REQUIRE(five.run());
    CHECK(one.digest() == five.digest());
  }
}

TEST_CASE("asynchronous, every increment counts exactly once under a rough network and crashes") {
  toy_settings toy;
  toy.function = "add";
  auto plan = plan_of(toy, false);
  plan.mutable_tables(0)->clear_schedule_parameters();
  plan.mutable_tables(0)->set_initialiser("zero");
  const std::uint64_t clocks = 30;
  std::map<key_id, double> expected;
  for (std::uint64_t clock = 0; clock < clocks; ++clock)
    for (std::uint32_t slot = 0; slot < toy.slots; ++slot)
      for (key_id k = 0; k < 40; ++k)
        if ((k + clock + slot) % 3 != 0) ++expected[splitmix64(k)];

  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    INFO("seed " << seed);
    mini_cluster c(
        plan, 3, [&](std::uint32_t s) { return std::make_unique<counting_program>(clocks, s); },
        rough, seed);
    REQUIRE(c.run());
    std::map<key_id, double> counted;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto rows = c.server(i).tables()[0]->read_range(all_keys, 1000);
      const auto* values = reinterpret_cast<const float*>(rows.values.data());
      for (std::size_t r = 0; r < rows.positions.size(); ++r)
        counted[unmix(rows.positions[r])] = values[r];
    }
    CHECK(counted == expected);
  }
}

TEST_CASE("bounded delay: no pull is staler than the bound, whatever the network does") {
  for (const std::uint64_t bound : {0, 1, 4}) {
    toy_settings toy;
    toy.keys = 40;
    toy.clocks = 20;
    auto c = cluster_of(toy, plan_of(toy, true, bound), 2, rough, bound + 1);
    REQUIRE(c.run());
    for (std::uint32_t s = 0; s < toy.slots; ++s)
      CHECK(c.slot(s).progress().max_staleness() <= bound);
  }
}

TEST_CASE("a job finishes though every fifth message is lost") {
  toy_settings toy;
  auto c = cluster_of(toy, plan_of(toy), 2, {0.2, 0, 1ms, 0}, 3);
  CHECK(c.run(30min));
}

TEST_CASE("with one slow slot the others' waiting falls as the bound grows") {
  // Slot 0 needs 30 ms a clock, the others no more than the network's round trips.
  const auto waited = [](bool bounded, std::uint64_t staleness) {
    toy_settings toy;
    toy.clocks = 40;
    toy.keys = 20;
    mini_cluster c(plan_of(toy, bounded, staleness), 2,
                   [&](std::uint32_t s) { return std::make_unique<toy_program>(toy, s); }, calm, 1,
                   {{0, 30ms}});
    REQUIRE(c.run());
    std::int64_t sum = 0;
    for (std::uint32_t s = 1; s < toy.slots; ++s) sum += c.slot(s).progress().waited_ns();
    return sum;
  };
  const auto synchronous = waited(true, 0), four = waited(true, 4), sixteen = waited(true, 16),
             asynchronous = waited(false, 0);
  CHECK(four < synchronous);
  CHECK(sixteen < four);
  CHECK(asynchronous < sixteen);
}
