// How far slots may run ahead of one another.
#include "tests/e2e/workplace.hpp"

using namespace troupe::testing;

namespace {

// Slot 0 is slow, so that the others run as far ahead as they may.
const char* const slow_slot = "[[debug.slow]]\nslot = 0\ndelay = \"10 ms\"\n";

double seconds_waited(const result_page& page) {
  double sum = 0;
  for (const auto& slot : page.value("slot_details").list_value().values())
    if (const auto& fields = slot.struct_value().fields(); fields.at("slot").number_value() != 0)
      sum += fields.at("waited_seconds").number_value();
  return sum;
}

}  // namespace

TEST_CASE("the staleness that was seen never exceeds the bound") {
  const workplace here;
  here.amend(slow_slot);
  for (const int bound : {0, 1, 4}) {
    INFO("bound ", bound);
    const auto done = here.train(set("training.staleness=" + std::to_string(bound)));
    CHECK(done.number("max_staleness") <= bound);
    if (bound > 0) CHECK(done.number("max_staleness") > 0);
    CHECK(done.number("examples") == 4000);
    CHECK(done.number("test_auc") > 0.7);
    const auto& histogram = done.value("staleness_histogram").list_value();
    CHECK(histogram.values_size() <= bound + 1);
  }
}

TEST_CASE("with unbounded staleness nobody waits, and the job still learns") {
  const workplace here;
  here.amend(slow_slot);
  const auto done = here.train(set("training.staleness=unbounded"));
  CHECK(done.word("staleness") == "unbounded");
  CHECK(done.number("max_staleness") > 4);
  CHECK(done.number("examples") == 4000);
  CHECK(done.number("test_auc") > 0.7);
}

TEST_CASE("the others wait less for a slow slot as the bound grows") {
  const workplace here;
  here.amend(slow_slot);
  // 10 clocks a slot: with a bound of 10 or more none is ever held back.
  const auto epoch = set("training.epochs=1");
  const auto waited = [&](const char* bound) {
    return seconds_waited(here.train(epoch + set(std::string("training.staleness=") + bound)));
  };
  const auto tight = waited("0"), middle = waited("5"), loose = waited("10");
  INFO(tight, " s, ", middle, " s, ", loose, " s");
  CHECK(middle < tight);
  CHECK(loose < tight);
}

TEST_CASE("gathering needs a bound, and says which key to change") {
  const workplace here;
  for (const std::string combine : {"sum", "mean"})
    check_refused(
        here.sim(set("training.staleness=unbounded") + set("training.combine=" + combine)),
        {"training.combine", "unbounded"});
  check_refused(here.sim(set("training.staleness=unbounded") + set("tables.bias.combine=sum")),
                {"tables.bias.combine", "unbounded"});
  CHECK(here.train(set("training.staleness=4") + set("training.combine=sum"))
            .number("max_staleness") <= 4);
}
