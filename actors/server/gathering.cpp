#include "actors/server/gathering.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

void gathering::add(std::uint32_t slot, push_number number, gathered_push push) {
  clocks_[number.clock].emplace(std::pair(slot, number.index), std::move(push));
}

gathered_push* gathering::find(std::uint32_t slot, push_number number) {
  const auto clock = clocks_.find(number.clock);
  if (clock == clocks_.end()) return nullptr;
  const auto push = clock->second.find({slot, number.index});
  return push == clock->second.end() ? nullptr : &push->second;
}

std::optional<push_number> gathering::oldest_of(std::uint32_t slot) const {
  for (const auto& [clock, pushes] : clocks_) {
    const auto first = pushes.lower_bound({slot, 0});
    if (first != pushes.end() && first->first.first == slot)
      return push_number{clock, first->first.second};
  }
  return std::nullopt;
}

open_clock gathering::take_first() {
  auto pushes = std::move(clocks_.begin()->second);
  clocks_.erase(clocks_.begin());
  return pushes;
}

std::vector<std::uint64_t> gathering::drop_all() {
  std::vector<std::uint64_t> askers;
  for (const auto& [clock, pushes] : std::exchange(clocks_, {}))
    for (const auto& [number, push] : pushes)
      for (const auto& [asker, deadline] : push.askers) askers.push_back(asker);
  return askers;
}

std::vector<std::uint64_t> gathering::expired(instant now) {
  std::vector<std::uint64_t> out;
  for (auto& [clock, pushes] : clocks_)
    for (auto& [number, push] : pushes) {
      const auto late =
          std::stable_partition(push.askers.begin(), push.askers.end(),
                                [&](const auto& asker) { return now < asker.second; });
      for (auto i = late; i != push.askers.end(); ++i) out.push_back(i->first);
      push.askers.erase(late, push.askers.end());
    }
  return out;
}

}  // namespace troupe
