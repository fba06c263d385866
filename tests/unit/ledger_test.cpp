#include <doctest/doctest.h>

#include "actors/server/slot_ledger.hpp"

using namespace troupe;

TEST_CASE("a ledger takes the next push, acknowledges repeats and asks for what is missing") {
  slot_ledger ledger(2);
  CHECK(ledger.classify(0, 1, {0, 0}) == arrival::next);
  ledger.take(0, {0, 0}, false);
  struct row {
    push_number number;
    arrival expected;
  };
  for (const auto& [number, expected] :
       {row{{0, 0}, arrival::repeated}, row{{0, 1}, arrival::next}, row{{0, 2}, arrival::too_early},
        row{{1, 0}, arrival::too_early}})
    CHECK(ledger.classify(0, 1, number) == expected);
  ledger.take(0, {0, 1}, true);
  CHECK(ledger.clock(0) == 1);
  CHECK(ledger.classify(0, 1, {0, 5}) == arrival::repeated);
  CHECK(ledger.classify(0, 1, {1, 0}) == arrival::next);
}

TEST_CASE("a lower epoch of a slot is fenced, an equal one may be installed again") {
  slot_ledger ledger(1);
  CHECK(ledger.adopt(0, 3));
  CHECK(ledger.adopt(0, 3));
  CHECK_FALSE(ledger.adopt(0, 2));
  CHECK(ledger.classify(0, 2, {0, 0}) == arrival::fenced);
  CHECK(ledger.classify(0, 3, {0, 0}) == arrival::next);
  CHECK(ledger.classify(0, 4, {0, 0}) == arrival::next);
}

TEST_CASE("the slowest slot is the lowest clock of those that have not finished") {
  slot_ledger ledger(3);
  CHECK(ledger.slowest() == 0);
  ledger.take(0, {0, 0}, true);
  ledger.take(0, {1, 0}, true);
  ledger.take(1, {0, 0}, true);
  CHECK(ledger.slowest() == 0);
  CHECK(ledger.below(2, 10) == std::vector<std::uint32_t>{1, 2});
  ledger.finish(2);  // a slot without data
  CHECK(ledger.slowest() == 1);
  ledger.take(1, {1, 0}, true);
  CHECK(ledger.slowest() == 2);
  ledger.finish(0);
  CHECK(ledger.slowest() == 2);
  ledger.finish(1);
  CHECK(ledger.slowest() == slot_ledger::nobody);
  CHECK(ledger.below(9, 10).empty());
}
