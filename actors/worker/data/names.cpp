#include "actors/worker/data/names.hpp"

namespace troupe {

void name_list::add(key_id key, std::string_view space, std::string_view name) {
  if (2 * (size_ + 1) > seen_.size()) grow();
  const auto mask = seen_.size() - 1;
  const auto at = mix(key);
  const auto mark = at == ~std::uint64_t{0} ? at : at + 1;  // two keys share a mark: one name less
  auto slot = at & mask;
  while (seen_[slot] != 0) {
    if (seen_[slot] == mark) return;
    slot = (slot + 1) & mask;
  }
  constexpr std::size_t most_text = std::size_t{512} << 20;
  if (size_ >= most_ || lines_.size() + name.size() + space.size() + 32 > most_text) return;
  seen_[slot] = mark;
  ++size_;
  lines_ += std::to_string(key);
  lines_ += '\t';
  lines_ += space;
  if (!name.empty()) {
    lines_ += '=';
    lines_ += name;
  }
  lines_ += '\n';
}

void name_list::grow() {
  const auto old = std::move(seen_);
  seen_.assign(old.empty() ? 1024 : 2 * old.size(), 0);
  const auto mask = seen_.size() - 1;
  for (const auto mark : old) {
    if (mark == 0) continue;
    auto slot = (mark - 1) & mask;
    while (seen_[slot] != 0) slot = (slot + 1) & mask;
    seen_[slot] = mark;
  }
}

}  // namespace troupe
