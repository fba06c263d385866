#pragma once
// TOML as a tree of plain nodes that know their place. toml++ is behind it, and nowhere else.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/findings.hpp"
#include "core/result.hpp"

namespace troupe::config {

struct node {
  enum class type { text, whole, number, boolean, list, table, date };

  struct entry;

  type what = type::table;
  place where;
  std::string text;    // text; of an override also the value as it was typed, whatever its type
  bool typed = false;  // the value stood outside of a file, where quotes are often left out
  std::int64_t whole = 0;
  double number = 0;
  bool boolean = false;
  std::vector<node> items;     // of a list
  std::vector<entry> entries;  // of a table, in the order they were written
};

struct node::entry {
  std::string key;
  place where;
  node value;
};

// A table. An error is the first fault of the syntax, with its place.
result<node> parse_toml(std::string_view text, const std::string& name);

// "a.b=c" as a table in a table. What is no TOML value is text.
result<node> parse_override(const std::string& text);

// A value as it would be typed in an override.
node typed_value(const std::string& text);

// A text as TOML, in quotes.
std::string quoted(std::string_view text);

// A table's key: bare where that is allowed, else in quotes.
std::string key_text(std::string_view key);

// What was found, for errors: "text 'abc'", "2.5", "a list".
std::string described(const node& value);

}  // namespace troupe::config
