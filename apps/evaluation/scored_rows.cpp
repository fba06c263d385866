#include "apps/evaluation/scored_rows.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// Replaces labels by codes where there are few different ones.
template <class Part>
void encode_labels(Part& p) {
  std::vector<double> different;
  std::vector<std::uint8_t> codes;
  codes.reserve(p.label.size());
  for (const double label : p.label) {
    // Few: a search is as good as any index.
    const auto found = std::find(different.begin(), different.end(), label);
    if (found == different.end() && different.size() == 8) return;
    codes.push_back(static_cast<std::uint8_t>(found - different.begin()));
    if (found == different.end()) different.push_back(label);
  }
  p.label = std::move(different);
  p.code = std::move(codes);
}

}  // namespace

void scored_rows::put(std::uint32_t number, const blob& numbers, std::uint32_t columns) {
  const auto all = numbers.as<double>();
  part p;
  const auto count = all.size() / columns;
  p.score.reserve(count);
  p.label.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double* at = all.data() + i * columns;
    p.score.push_back(at[0]);
    p.label.push_back(at[1]);
    if (p.weight.empty() && at[2] != 1) p.weight.assign(i, 1);
    if (!p.weight.empty() || at[2] != 1) p.weight.push_back(at[2]);
    if (columns < 4) continue;
    std::uint64_t group;
    std::memcpy(&group, at + 3, sizeof group);
    p.group.push_back(group);
  }
  encode_labels(p);
  parts_[number] = std::move(p);
}

std::uint64_t scored_rows::rows() const {
  std::uint64_t sum = 0;
  for (const auto& [number, p] : parts_) sum += p.score.size();
  return sum;
}

bool scored_rows::has_groups() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& entry) { return !entry.second.group.empty(); });
}

}  // namespace troupe
