#include "actors/supervision/restart_policy.hpp"

#include <algorithm>

namespace troupe {

std::optional<duration> restart_policy::on_death(instant now) {
  while (!recent_.empty() && now - recent_.front() > settings_.window) recent_.pop_front();
  if (recent_.size() >= settings_.budget) return std::nullopt;
  const auto doublings = std::min<std::size_t>(recent_.size(), 20);
  recent_.push_back(now);
  ++restarts_;
  return std::min(settings_.backoff * (std::int64_t{1} << doublings), settings_.backoff_limit);
}

}  // namespace troupe
