#include "config/units.hpp"

#include <iterator>
#include <limits>

#include "core/span.hpp"
#include "core/text.hpp"
#include "core/wide.hpp"

namespace troupe::config {

namespace {

struct unit {
  const char* name;
  std::int64_t worth;
};

constexpr unit durations[] = {{"ns", 1},
                              {"us", 1'000},
                              {"ms", 1'000'000},
                              {"s", 1'000'000'000},
                              {"min", 60'000'000'000},
                              {"h", 3'600'000'000'000},
                              {"d", 86'400'000'000'000}};

constexpr unit sizes[] = {{"B", 1},
                          {"kB", 1'000},
                          {"KiB", 1'024},
                          {"MB", 1'000'000},
                          {"MiB", std::int64_t{1} << 20},
                          {"GB", 1'000'000'000},
                          {"GiB", std::int64_t{1} << 30},
                          {"TB", 1'000'000'000'000},
                          {"TiB", std::int64_t{1} << 40}};

using units = span<const unit>;

bool digit(char c) {
  return '0' <= c && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

error no_such(std::string_view text, const char* what, units known) {
  std::string names;
  for (const auto& u : known) names += (names.empty() ? "" : ", ") + std::string(u.name);
  return {errc::bad_config,
          format("'%.*s' is not a %s; write a number and one of the units %s",
                 static_cast<int>(text.size()), text.data(), what, names.c_str())};
}

result<std::int64_t> parse(std::string_view whole, const char* what, units known) {
  constexpr std::size_t most_digits = 18;  // so that digits times a unit's worth fit into 128 bits
  const auto text = trimmed(whole);
  uint128 digits = 0, scale = 1;
  std::size_t at = 0, count = 0;
  bool fraction = false;
  for (; at < text.size() && (digit(text[at]) || (text[at] == '.' && !fraction && at > 0)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<unsigned>(text[at] - '0');
    if (fraction) scale *= 10;
    if (++count > most_digits) return no_such(whole, what, known);
  }
  if (count == 0 || text[at - 1] == '.') return no_such(whole, what, known);
  const auto name = trimmed(text.substr(at));
  for (const auto& u : known)
    if (name == u.name) {
      const auto value = digits * static_cast<std::uint64_t>(u.worth) / scale;
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return error{errc::bad_config,
                     format("'%.*s' is too large", static_cast<int>(whole.size()), whole.data())};
      return static_cast<std::int64_t>(value);
    }
  return no_such(whole, what, known);
}

std::string shortest(std::int64_t value, units known, const char* of_zero) {
  if (value == 0) return of_zero;
  std::string best;
  for (const auto& u : known) {
    if (value % u.worth != 0) continue;
    auto text = std::to_string(value / u.worth) + " " + u.name;
    if (best.empty() || text.size() <= best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace

result<std::int64_t> parse_duration(std::string_view text) {
  return parse(text, "duration", durations);
}
result<std::int64_t> parse_size(std::string_view text) {
  return parse(text, "size", sizes);
}
std::string duration_text(std::int64_t nanoseconds) {
  return shortest(nanoseconds, durations, "0 s");
}
std::string size_text(std::int64_t bytes) {
  return shortest(bytes, sizes, "0 B");
}

}  // namespace troupe::config
