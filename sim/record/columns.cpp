#include "sim/record/columns.hpp"

#include <algorithm>

namespace troupe::sim {

void columns::add(std::size_t node, activity what, std::int64_t from, std::int64_t to) {
  if (to <= from) return;
  while (to > width_ * static_cast<std::int64_t>(most)) widen();
  auto& own = nodes_[node];
  const auto last = static_cast<std::size_t>((to - 1) / width_);
  if (own.size() <= last) own.resize(last + 1);
  for (auto c = static_cast<std::size_t>(from / width_); c <= last; ++c) {
    const auto begin = static_cast<std::int64_t>(c) * width_;
    own[c][static_cast<std::size_t>(what)] += std::min(to, begin + width_) - std::max(from, begin);
  }
}

void columns::widen() {
  width_ *= 2;
  for (auto& own : nodes_) {
    for (std::size_t c = 0; c < own.size(); ++c)
      for (std::size_t what = 0; what < 3; ++what) {
        if (c % 2 == 0)
          own[c / 2][what] = own[c][what];
        else
          own[c / 2][what] += own[c][what];
      }
    own.resize((own.size() + 1) / 2);
  }
}

timeline columns::result() const {
  timeline t;
  t.column = duration(width_);
  for (const auto& own : nodes_) {
    auto& row = t.nodes.emplace_back();
    for (const auto& c : own) row.push_back({duration(c[0]), duration(c[1]), duration(c[2])});
  }
  return t;
}

}  // namespace troupe::sim
