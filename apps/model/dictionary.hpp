#pragma once
// Names of features: a text file of lines "key<TAB>name", the key a decimal number of 64 bits.
// Blank lines and lines that begin with '#' are passed over. Held in memory: some 60 bytes and the
// name to a line.

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/file.hpp"
#include "core/result.hpp"
#include "messages/keys.hpp"

namespace troupe {

class dictionary {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

  dictionary() = default;
  // Errors are errc::bad_data and begin with "file:line: ". Of a key named twice the first counts.
  static result<dictionary> load(file_system& files, const std::string& path);
  static result<dictionary> parse(std::string_view text, const std::string& name_for_errors);

  bool empty() const { return names_.empty(); }
  std::string_view name(key_id key) const;  // empty: it has none

 private:
  std::unordered_map<key_id, std::string> names_;
};

}  // namespace troupe
