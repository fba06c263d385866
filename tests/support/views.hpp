#pragma once
// Views of so many servers, numbered from 0, in their first incarnation.

#include "actors/scheduler/view_planning.hpp"

namespace troupe::testing {

inline std::vector<member> members_up_to(std::uint32_t servers) {
  std::vector<member> members;
  for (std::uint32_t i = 0; i < servers; ++i) members.push_back({i, 1});
  return members;
}

inline view view_of_servers(std::uint32_t servers, std::uint64_t number = 1,
                            std::uint32_t copies = 0) {
  return first_view(number, members_up_to(servers), 8, copies);
}

}  // namespace troupe::testing
