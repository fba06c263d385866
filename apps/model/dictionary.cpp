#include "apps/model/dictionary.hpp"

#include <charconv>
#include <system_error>

#include "core/text.hpp"

namespace troupe {

result<dictionary> dictionary::load(file_system& files, const std::string& path) {
  const auto text = read_text(files, path, most_bytes);
  if (!text) return text.failure();
  return parse(*text, path);
}

result<dictionary> dictionary::parse(std::string_view text, const std::string& name_for_errors) {
  dictionary made;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    key_id key = 0;
    const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), key);
    const auto digits = static_cast<std::size_t>(end - line.data());
    if (code != std::errc() || digits == line.size() || line[digits] != '\t')
      return error{errc::bad_data,
                   format("%s:%zu: a line of a dictionary is a key, a tab and a name",
                          name_for_errors.c_str(), number)};
    made.names_.emplace(key, line.substr(digits + 1));
  }
  return made;
}

std::string_view dictionary::name(key_id key) const {
  const auto found = names_.find(key);
  return found == names_.end() ? std::string_view() : found->second;
}

}  // namespace troupe
