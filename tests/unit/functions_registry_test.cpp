#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "actors/server/functions/builtin_functions.hpp"
#include "core/math.hpp"
#include "tests/support/tables.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

std::string failure_of(const table_spec& spec) {
  const auto made = table::make(spec, 1);
  return made ? "" : made.failure().text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("rates follow their schedule's formula") {
  const auto rate = [](decay_kind kind, std::uint64_t clock) {
    return rate_at({0.5, kind, 100, 0.25, 0}, clock);
  };
  CHECK(rate(decay_kind::constant, 12345) == 0.5);
  CHECK(rate(decay_kind::inverse_sqrt, 300) == 0.25);
  CHECK(rate(decay_kind::inverse, 400) == 0.1);
  CHECK(rate(decay_kind::exponential, 200) == doctest::Approx(0.5 / 16).epsilon(1e-15));
  CHECK(rate(decay_kind::exponential, 50) == doctest::Approx(0.25).epsilon(1e-15));
  CHECK(rate(decay_kind::step, 99) == 0.5);
  CHECK(rate(decay_kind::step, 199) == 0.125);
  for (const auto kind : {decay_kind::constant, decay_kind::inverse_sqrt, decay_kind::inverse,
                          decay_kind::exponential, decay_kind::step})
    CHECK(rate(kind, 0) == 0.5);
}

TEST_CASE("a warm-up rises in equal steps and ends at the schedule") {
  const rate_schedule s{0.8, decay_kind::constant, 1000, 0.5, 3};
  CHECK(rate_at(s, 0) == 0.2);
  CHECK(rate_at(s, 1) == 0.4);
  CHECK(rate_at(s, 2) == doctest::Approx(0.6).epsilon(1e-15));
  CHECK(rate_at(s, 3) == 0.8);
}

TEST_CASE("words of schedules are known, and others are told the nearest") {
  CHECK(*decay_kind_of("inverse_sqrt") == decay_kind::inverse_sqrt);
  CHECK(has(decay_kind_of("inverse_sqr").failure().text, "'inverse_sqrt'"));
}

TEST_CASE("an unknown function or parameter is told the nearest known one") {
  CHECK(has(failure_of(spec_of("adagard")),
            "unknown server function 'adagard'; did you mean 'adagrad'?"));
  auto spec = spec_of("ftrl");
  spec.function.parameters["alpa"] = 1;
  CHECK(has(failure_of(spec), "did you mean 'alpha'?"));
  CHECK(has(failure_of(spec), "table 'weights'"));
}

TEST_CASE("numbers out of their bounds are named") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    const char* function;
    const char* parameter;
    double value;
  } table[] = {
      {"momentum", "momentum", 1}, {"momentum", "momentum", -0.1}, {"adam", "beta1", 1},
      {"adam", "beta2", nan},      {"adam", "epsilon", 0},         {"ftrl", "alpha", 0},
      {"ftrl", "beta", -1},        {"rmsprop", "decay", 2},        {"adagrad", "epsilon", -1}};
  for (const auto& [function, parameter, value] : table) {
    auto spec = spec_of(function);
    spec.function.parameters[parameter] = value;
    CHECK_MESSAGE(has(failure_of(spec), std::string(parameter) + " is "), function);
  }
  auto spec = spec_of("sgd");
  spec.function.rate.rate = 0;
  CHECK(has(failure_of(spec), "the rate is 0"));
  spec = spec_of("sgd");
  spec.function.l1 = -1;
  CHECK(has(failure_of(spec), "l1 is -1"));
  spec = spec_of("add");
  spec.function.l2 = 1;
  CHECK(has(failure_of(spec), "applies no penalty, so l2 must be 0"));
  spec = spec_of("sgd");
  spec.function.clip = clipping::norm;
  CHECK(has(failure_of(spec), "cannot be clipped at 0"));
}

TEST_CASE("a user's own function plugs in by name, once") {
  const auto t = table_of(spec_of("largest"));
  REQUIRE(pushed<float>(*t, {1, 5}, {3, -2}));
  REQUIRE(pushed<float>(*t, {1, 5}, {2, 4}));
  CHECK(pulled<float>(*t, {1, 5}) == std::vector<float>{3, 4});
  CHECK(has(function_registry::global().add(entry_of<largest>("largest")).failure().text,
            "'largest' already"));
}

TEST_CASE("gradient updaters add up repeated keys, assignment does not") {
  for (const auto& entry : builtin_functions()) CHECK(entry.additive == (entry.name != "assign"));
}
