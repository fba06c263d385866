#pragma once
// JSON that is valid by construction (RFC 8259): text is UTF-8 whatever came in, a number that is
// not finite is null, and doubles are the shortest digits that read back as the same number.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::console {

// A rendered value.
class json {
 public:
  json() : text_("null") {}
  static json of(bool value);
  static json of(double value);
  static json of(std::uint64_t value);
  static json of(std::int64_t value);
  static json of(std::string_view value);
  static json of(const char* value) { return of(std::string_view(value)); }  // else a bool
  static json of(std::optional<double> value) { return value ? of(*value) : json(); }
  static json array(const std::vector<json>& items);

  const std::string& text() const { return text_; }

 private:
  friend class json_object;
  explicit json(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Members in the order in which they were added; names must differ.
class json_object {
 public:
  json_object& add(std::string_view name, const json& value);
  bool has(std::string_view name) const;
  json value() const;        // on one line, for nesting
  std::string page() const;  // one member a line, with a final newline

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // rendered
};

}  // namespace troupe::console
