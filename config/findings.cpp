#include "config/findings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe::config {

std::string to_string(const place& where) {
  if (where.line == 0) return where.source;
  return where.source + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

void findings::add(place where, std::string key, std::string text) {
  all_.push_back({std::move(where), std::move(key), std::move(text)});
}

void findings::forget(const std::string& key) {
  const auto concerned = [&](const finding& f) {
    return f.key == key || f.key.rfind(key + ".", 0) == 0;
  };
  all_.erase(std::remove_if(all_.begin(), all_.end(), concerned), all_.end());
}

bool findings::concern(const std::string& key) const {
  return std::any_of(all_.begin(), all_.end(), [&](const finding& f) { return f.key == key; });
}

error findings::as_error() const {
  auto sorted = all_;
  const auto rank = [](const finding& f) {
    // What has no line comes after what has one, in the order it was found.
    const auto line = f.where.line ? f.where.line : std::numeric_limits<std::size_t>::max();
    return std::make_pair(line, f.where.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const finding& a, const finding& b) { return rank(a) < rank(b); });
  std::string text;
  for (const auto& f : sorted) {
    if (!text.empty()) text += "\n";
    if (const auto where = to_string(f.where); !where.empty()) text += where + ": ";
    if (!f.key.empty()) text += f.key + ": ";
    text += f.text;
  }
  return {errc::bad_config, std::move(text)};
}

}  // namespace troupe::config
