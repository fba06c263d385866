#pragma once
// Leave to answer. A primary answers only while all its copies, or the scheduler where it has none,
// have granted it leave to; a grant counts from the asking, and a little less than it is worth, for
// clocks that run apart. Who becomes primary waits until what it granted to its predecessor itself
// has run out. So a primary that slept, or was cut off, cannot answer what its successor has
// overtaken. After Gray and Cheriton, "Leases", SOSP 1989.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "core/time.hpp"

namespace troupe {

class leases {
 public:
  static constexpr std::uint32_t scheduler = std::numeric_limits<std::uint32_t>::max();
  static constexpr instant forever{std::numeric_limits<std::int64_t>::max()};

  // 0: everybody may always answer.
  explicit leases(duration length) : length_(length) {}
  bool on() const { return length_ > duration::zero(); }
  duration length() const { return length_; }

  // The holder's side.
  void granted(std::uint32_t by, instant asked) {
    auto& until = until_[by];
    until = std::max(until, asked + length_ * 9 / 10);
  }
  void withdrawn(std::uint32_t by) { until_.erase(by); }
  instant until(const std::vector<std::uint32_t>& granters) const {
    if (!on()) return forever;
    auto least = forever;
    for (const auto g : granters) {
      const auto found = until_.find(g);
      least = std::min(least, found == until_.end() ? instant{} : found->second);
    }
    return least;
  }

  // The granter's side.
  void grant(std::uint32_t to, instant now) { given_[to] = now; }
  // When all that was granted to anybody has run out.
  instant all_over() const {
    instant latest{};
    for (const auto& [to, at] : given_) latest = std::max(latest, at + length_);
    return latest;
  }

 private:
  const duration length_;
  std::map<std::uint32_t, instant> until_, given_;
};

}  // namespace troupe
