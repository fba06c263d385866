#include "apps/console/traffic.hpp"

#include <map>
#include <tuple>

namespace troupe::console {
namespace {

using place = std::tuple<std::uint32_t, bool, std::uint32_t>;  // table, pulls, server

template <class Counts>
void add(std::vector<std::uint64_t>& sum, const Counts& more) {
  if (sum.size() < static_cast<std::size_t>(more.size()))
    sum.resize(static_cast<std::size_t>(more.size()));
  std::size_t i = 0;
  for (const auto bytes : more) sum[i++] += bytes;
}

std::vector<filtered_traffic> listed(const std::map<place, filtered_traffic>& sums) {
  std::vector<filtered_traffic> all;
  for (const auto& [key, sum] : sums) {
    all.push_back(sum);
    std::tie(all.back().table, all.back().pulls, all.back().server) = key;
  }
  return all;
}

}  // namespace

std::uint64_t filtered_traffic::before() const {
  return (sent.empty() ? 0 : sent.front()) + (received.empty() ? 0 : received.front());
}

std::uint64_t filtered_traffic::after() const {
  return (sent.empty() ? 0 : sent.back()) + (received.empty() ? 0 : received.back());
}

std::uint64_t after_step(const std::vector<std::uint64_t>& counts, std::size_t step) {
  return step < counts.size() ? counts[step] : 0;
}

std::vector<filtered_traffic> traffic_of(const pb::JobStatus& status) {
  std::map<place, filtered_traffic> sums;
  for (const auto& slot : status.slots())
    for (const auto& t : slot.traffic()) {
      auto& sum = sums[{t.table(), t.pulls(), t.server()}];
      sum.messages += t.messages();
      add(sum.sent, t.sent());
      add(sum.received, t.received());
    }
  return listed(sums);
}

std::vector<filtered_traffic> over_servers(const std::vector<filtered_traffic>& all) {
  std::map<place, filtered_traffic> sums;
  for (const auto& t : all) {
    auto& sum = sums[{t.table, t.pulls, 0}];
    sum.messages += t.messages;
    add(sum.sent, t.sent);
    add(sum.received, t.received);
  }
  return listed(sums);
}

}  // namespace troupe::console
