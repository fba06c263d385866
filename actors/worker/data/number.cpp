#include "actors/worker/data/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "core/text.hpp"

namespace troupe {
namespace {

// A decimal number without its sign, as 0.d1d2d3... * 10^exponent with neither leading nor trailing
// zeros.
struct decimal {
  std::string digits;
  std::int64_t exponent = 0;

  bool integer() const { return exponent >= static_cast<std::int64_t>(digits.size()); }
  friend bool operator==(const decimal& a, const decimal& b) {
    return a.exponent == b.exponent && a.digits == b.digits;
  }
};

std::int64_t exponent_of(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  constexpr std::int64_t enough = 1'000'000'000'000;
  std::int64_t value = 0;
  for (char c : text) value = std::min(value * 10 + (c - '0'), enough);
  return negative ? -value : value;
}

// Of text that std::from_chars has accepted as a finite decimal number.
decimal normalised(std::string_view text) {
  decimal number;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    const bool leading_zero = number.digits.empty() && text[at] == '0';
    if (!leading_zero) number.digits += text[at];
    if (!fraction && !leading_zero) ++number.exponent;
    if (fraction && leading_zero) --number.exponent;
  }
  if (at < text.size()) number.exponent += exponent_of(text.substr(at + 1));
  while (!number.digits.empty() && number.digits.back() == '0') number.digits.pop_back();
  if (number.digits.empty()) number.exponent = 0;
  return number;
}

template <class T>
number_fault parse_decimal(std::string_view text, T& value) {
  // std::from_chars takes no plus sign.
  auto unsigned_text = text;
  if (!text.empty() && text[0] == '+') {
    unsigned_text.remove_prefix(1);
    if (!unsigned_text.empty() && unsigned_text[0] == '-') return number_fault::malformed;
  }
  const char* end = unsigned_text.data() + unsigned_text.size();
  const auto [stop, code] = std::from_chars(unsigned_text.data(), end, value);
  if (stop != end || code == std::errc::invalid_argument) return number_fault::malformed;
  if (code == std::errc::result_out_of_range) {
    if (normalised(unsigned_text).exponent > 0) return number_fault::too_large;
    value = unsigned_text[0] == '-' ? -T{0} : T{0};
    return number_fault::none;
  }
  return std::isfinite(value) ? number_fault::none : number_fault::not_finite;
}

}  // namespace

number_fault parse_u64(std::string_view text, std::uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (stop != end || code == std::errc::invalid_argument) return number_fault::malformed;
  return code == std::errc{} ? number_fault::none : number_fault::too_large;
}

number_fault parse_f32(std::string_view text, float& value) {
  return parse_decimal(text, value);
}

number_fault parse_exact(std::string_view text, double& value) {
  const auto fault = parse_decimal(text, value);
  if (fault != number_fault::none) return fault;
  if (std::fabs(value) < 0x1p53) return number_fault::none;  // below, every integer is exact
  const auto written = normalised(text);
  if (!written.integer()) return number_fault::none;
  // "%.0f" prints the value that is held to its last digit.
  return written == normalised(format("%.0f", value)) ? number_fault::none : number_fault::inexact;
}

const char* reason_of(number_fault fault) {
  switch (fault) {
    case number_fault::not_finite:
      return "is not finite";
    case number_fault::too_large:
      return "is too large";
    case number_fault::inexact:
      return "is an integer that 64-bit floats cannot hold exactly";
    default:
      return "is not a number";
  }
}

std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (char c : token.substr(0, longest))
    text += c >= 0x20 && c < 0x7F ? std::string(1, c)
                                  : format("\\x%02X", static_cast<unsigned char>(c));
  return text + (token.size() > longest ? "...'" : "'");
}

}  // namespace troupe
