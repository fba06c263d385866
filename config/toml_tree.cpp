#include "config/toml_tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "config/number_text.hpp"
#include "core/text.hpp"

namespace troupe::config {

namespace {

place place_of(const toml::source_region& region, const std::string& name) {
  return {name, region.begin.line, region.begin.column};
}

node converted(const toml::node& from, const std::string& name) {
  node to;
  to.where = place_of(from.source(), name);
  if (const auto* table = from.as_table()) {
    to.what = node::type::table;
    for (const auto& [key, value] : *table)
      to.entries.push_back(
          {std::string(key.str()), place_of(key.source(), name), converted(value, name)});
    std::sort(to.entries.begin(), to.entries.end(), [](const node::entry& a, const node::entry& b) {
      return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
    });
  } else if (const auto* list = from.as_array()) {
    to.what = node::type::list;
    for (const auto& item : *list) to.items.push_back(converted(item, name));
  } else if (const auto* text = from.as_string()) {
    to.what = node::type::text;
    to.text = text->get();
  } else if (const auto* whole = from.as_integer()) {
    to.what = node::type::whole;
    to.whole = whole->get();
  } else if (const auto* number = from.as_floating_point()) {
    to.what = node::type::number;
    to.number = number->get();
  } else if (const auto* boolean = from.as_boolean()) {
    to.what = node::type::boolean;
    to.boolean = boolean->get();
  } else {
    to.what = node::type::date;
  }
  return to;
}

// The value of "value = TEXT", if that is one line of TOML.
std::optional<node> toml_value(const std::string& text) {
  auto parsed = parse_toml("value = " + text, "");
  if (!parsed || parsed->entries.size() != 1 || parsed->entries[0].key != "value")
    return std::nullopt;
  return std::move(parsed->entries[0].value);
}

void replace_place(node& value, const place& where) {
  value.where = where;
  for (auto& item : value.items) replace_place(item, where);
  for (auto& entry : value.entries) {
    entry.where = where;
    replace_place(entry.value, where);
  }
}

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  return text;
}

}  // namespace

result<node> parse_toml(std::string_view text, const std::string& name) {
  try {
    return converted(toml::parse(text, name), name);
  } catch (const toml::parse_error& e) {
    return error{errc::bad_config,
                 to_string(place_of(e.source(), name)) + ": " + std::string(e.description())};
  }
}

node typed_value(const std::string& text) {
  node value;
  value.what = node::type::text;
  value.text = text;
  const auto parsed = toml_value(text);
  if (parsed && parsed->what != node::type::date) {
    value = *parsed;
    if (value.what != node::type::text) value.text = text;
  }
  value.typed = true;
  return value;
}

namespace {

// The parts of an override's key, which ends at `equals`; a part may stand in double quotes, and
// then holds anything. None: there is no equals sign, or a quote does not end.
std::optional<std::vector<std::string>> key_of(const std::string& text, std::size_t& equals) {
  std::vector<std::string> parts(1);
  bool quoted_part = false;
  for (equals = 0; equals < text.size(); ++equals) {
    const char c = text[equals];
    if (quoted_part && c == '\\' && equals + 1 < text.size()) {
      parts.back() += text[++equals];
    } else if (c == '"') {
      quoted_part = !quoted_part;
    } else if (quoted_part) {
      parts.back() += c;
    } else if (c == '=') {
      parts.front() = trimmed(parts.front());
      parts.back() = trimmed(parts.back());
      return parts;
    } else if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return std::nullopt;
}

}  // namespace

result<node> parse_override(const std::string& text) {
  const place where{"--set " + text};
  const auto fail = [&](const std::string& why) {
    return error{errc::bad_config, to_string(where) + ": " + why};
  };
  std::size_t equals = 0;
  auto parts = key_of(text, equals);
  if (!parts || (parts->size() == 1 && parts->front().empty()))
    return fail("write an override as key=value, such as training.epochs=3");
  const auto typed = trimmed(text.substr(equals + 1));
  auto value = typed_value(typed);
  if (!typed.empty() && std::string_view("\"'[{").find(typed[0]) != std::string_view::npos &&
      !toml_value(typed))
    return fail(
        "the value begins like TOML but is not; quote it, or leave the first character out");
  if (value.what == node::type::text && !toml_value(quoted(value.text)))
    return fail("the value is not UTF-8 text");
  replace_place(value, where);

  for (; !parts->empty(); parts->pop_back()) {
    if (parts->back().empty()) return fail("a part of the key is empty");
    node table;
    table.where = where;
    table.entries.push_back({parts->back(), where, std::move(value)});
    value = std::move(table);
  }
  return value;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += format("\\u%04X", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string key_text(std::string_view key) {
  const auto bare = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!key.empty() && std::all_of(key.begin(), key.end(), bare)) return std::string(key);
  return quoted(key);
}

std::string described(const node& value) {
  switch (value.what) {
    case node::type::text:
      return "text '" + value.text + "'";
    case node::type::whole:
      return std::to_string(value.whole);
    case node::type::number:
      return number_text(value.number);
    case node::type::boolean:
      return value.boolean ? "true" : "false";
    case node::type::list:
      return "a list";
    case node::type::table:
      return "a table";
    case node::type::date:
      return "a date or time";
  }
  return "";
}

}  // namespace troupe::config
