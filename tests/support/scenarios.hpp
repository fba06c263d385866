#pragma once
// Chaos scenarios of tests, as text, and what is wrong with a run of one.

#include <doctest/doctest.h>

#include <string>

#include "apps/chaos/fault_kinds.hpp"
#include "apps/chaos/outcome.hpp"
#include "config/scenario.hpp"
#include "core/result.hpp"

namespace troupe::testing {

inline config::Scenario parsed_scenario(const std::string& text) {
  const auto s = config::parse_scenario(text, "test", chaos::all_words());
  INFO((s ? std::string() : s.failure().text));
  REQUIRE(s.ok());
  return *s;
}

// Empty: nothing.
inline std::string broken(const chaos::run_outcome& o) {
  return o.ok() ? "" : o.violations.front().promise + ": " + o.violations.front().text;
}
inline std::string broken(const result<chaos::run_outcome>& o) {
  return o ? broken(*o) : o.failure().text;
}

}  // namespace troupe::testing
