#pragma once
// Deliberate bugs of the protocol, to see whether a chaos run finds them (docs/chaos.md). They are
// compiled in by -DTROUPE_PLANTED_BUGS=ON alone, in a build of its own; in any other, planted() is
// false at compile time and its branch is gone. A bug is one condition at the line that it spoils:
//
//   if (planted("acknowledge-early")) return acknowledge(push);
//
// At most one is in force, chosen before any actor starts.

#include <cstddef>
#include <string_view>

namespace troupe {

struct planted_bug {
  std::string_view name;    // "acknowledge-early"
  std::string_view breaks;  // what then no longer holds, in a sentence
};

// All that can be chosen.
extern const planted_bug planted_bugs[];
extern const std::size_t planted_bug_count;

#ifdef TROUPE_PLANTED_BUGS
bool planted(std::string_view name);
// False if there is none of that name. An empty name chooses none.
bool choose_planted_bug(std::string_view name);
#else
constexpr bool planted(std::string_view) {
  return false;
}
constexpr bool choose_planted_bug(std::string_view name) {
  return name.empty();
}
#endif

}  // namespace troupe
