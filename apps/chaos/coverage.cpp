#include "apps/chaos/coverage.hpp"

#include <algorithm>
#include <cstring>

#include "actors/supervision/landmarks.hpp"
#include "core/text.hpp"
#include "messages/filters/registry.hpp"

namespace troupe::chaos {

const std::vector<cell>& all_cells() {
  static const auto cells = [] {
    std::vector<cell> all;
    for (const auto* state : landmark::all)
      for (const auto& k : all_fault_kinds()) all.push_back({k.kind, state});
    return all;
  }();
  return cells;
}

std::vector<cell> thin_cells(const coverage& covered, std::uint64_t least) {
  std::vector<cell> thin;
  for (const auto& c : all_cells()) {
    const auto found = covered.find({c.kind, c.state});
    if (found == covered.end() || found->second < least) thin.push_back(c);
  }
  return thin;
}

std::vector<std::string> thin_filters(const filters_met& met, std::uint64_t least) {
  std::vector<std::string> thin;
  for (const auto& name : filter_registry::global().names()) {
    const auto found = met.find(name);
    if (found == met.end() || found->second < least) thin.push_back(name);
  }
  return thin;
}

std::string filters_line(const filters_met& met) {
  std::string text;
  for (const auto& [name, runs] : met)
    text += format("%s%s %llu", text.empty() ? "" : ", ", name.c_str(),
                   static_cast<unsigned long long>(runs));
  return "filters, in runs with a fault: " + (text.empty() ? "none" : text);
}

std::string coverage_table(const coverage& covered) {
  std::size_t widest = 0;
  for (const auto* state : landmark::all) widest = std::max(widest, std::strlen(state));
  std::string text;
  int letter = 0;
  for (const auto& k : all_fault_kinds()) {
    text += format("%s%c %s", letter % 6 == 0 ? "\n  " : ", ",
                   letter < 26 ? 'A' + letter : 'a' + letter - 26, k.name);
    ++letter;
  }
  text = "faults:" + text + "\n\n" + std::string(widest, ' ');
  for (letter = 0; letter < static_cast<int>(fault_kind_count); ++letter)
    text += format("%5c", letter < 26 ? 'A' + letter : 'a' + letter - 26);
  text += "\n";
  for (const auto* state : landmark::all) {
    text += format("%-*s", static_cast<int>(widest), state);
    for (const auto& k : all_fault_kinds()) {
      const auto found = covered.find({k.kind, state});
      const auto n = found == covered.end() ? 0 : found->second;
      text += n < 10'000 ? format("%5llu", static_cast<unsigned long long>(n))
                         : format("%4lluk", static_cast<unsigned long long>(n / 1000));
    }
    text += "\n";
  }
  return text;
}

}  // namespace troupe::chaos
