#include "apps/commands/evaluate.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>

namespace troupe {

result<void> evaluate_model(std::shared_ptr<file_system> files, const evaluate_options& options,
                            std::ostream& out) {
  const auto figures = evaluate_saved(std::move(files), options);
  if (!figures) return figures.failure();
  std::size_t longest = 0;
  for (const auto& m : *figures) longest = std::max(longest, m.name().size());
  for (const auto& m : *figures) {
    char digits[32] = "-";
    auto* end = digits + 1;
    if (m.known()) end = std::to_chars(digits, digits + sizeof digits, m.value()).ptr;
    out << m.name() << std::string(longest + 2 - m.name().size(), ' ') << std::string(digits, end)
        << '\n';
  }
  return {};
}

}  // namespace troupe
