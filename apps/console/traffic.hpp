#pragma once
// Bytes of keys and values between slots and servers, before and after each filter.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/control.pb.h"

namespace troupe::console {

// Of a table in one direction; of one server, or of all.
struct filtered_traffic {
  std::uint32_t table = 0;
  bool pulls = false;
  std::uint32_t server = 0;
  std::uint64_t messages = 0;
  // By workers, and by servers; before any filter, and after each.
  std::vector<std::uint64_t> sent, received;

  // Before any filter and after the last, in both directions.
  std::uint64_t before() const;
  std::uint64_t after() const;
};

// What was left after so many steps (0: before any); 0 where fewer are counted.
std::uint64_t after_step(const std::vector<std::uint64_t>& counts, std::size_t step);

// Summed over slots, by table, direction and server. Empty where no filter was asked for.
std::vector<filtered_traffic> traffic_of(const pb::JobStatus& status);
std::vector<filtered_traffic> over_servers(const std::vector<filtered_traffic>& all);

}  // namespace troupe::console
