#include "apps/console/json.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "core/text.hpp"

namespace troupe::console {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (Unicode 15,
// table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const auto lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second =
        byte(1) >= (lead == 0xE0 ? 0xA0u : 0x80u) && byte(1) <= (lead == 0xED ? 0x9Fu : 0xBFu);
    return second && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second =
        byte(1) >= (lead == 0xF0 ? 0x90u : 0x80u) && byte(1) <= (lead == 0xF4 ? 0x8Fu : 0xBFu);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // the replacement character
      text.remove_prefix(1);
      continue;
    }
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead == '"' || lead == '\\') {
      out += '\\';
      out += text[0];
    } else if (lead < 0x20) {
      out += format("\\u%04x", lead);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out += '"';
}

template <class Number>
std::string digits(Number value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

}  // namespace

json json::of(bool value) {
  return json(std::string(value ? "true" : "false"));
}
json json::of(double value) {
  return std::isfinite(value) ? json(digits(value)) : json();
}
json json::of(std::uint64_t value) {
  return json(digits(value));
}
json json::of(std::int64_t value) {
  return json(digits(value));
}
json json::of(std::string_view value) {
  return json(quoted(value));
}

json json::array(const std::vector<json>& items) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + item.text();
  return json(text + "]");
}

json_object& json_object::add(std::string_view name, const json& value) {
  assert(!has(name));
  members_.emplace_back(quoted(name), value.text());
  return *this;
}

bool json_object::has(std::string_view name) const {
  const auto rendered = quoted(name);
  for (const auto& member : members_)
    if (member.first == rendered) return true;
  return false;
}

json json_object::value() const {
  std::string text = "{";
  for (const auto& [name, value] : members_)
    text += (text.size() > 1 ? ", " : "") + name + ": " + value;
  return json(text + "}");
}

std::string json_object::page() const {
  std::string text = "{";
  for (const auto& [name, value] : members_)
    text += (text.size() > 1 ? ",\n  " : "\n  ") + name + ": " + value;
  return text + "\n}\n";
}

}  // namespace troupe::console
