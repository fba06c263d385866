#pragma once
// Numbers as text files spell them, taken without losing anything silently. Decimal notation with
// an optional sign, fraction and exponent; no locale, no hexadecimal. The whole of the text must be
// the number.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

enum class number_fault {
  none,
  malformed,   // not a number
  not_finite,  // "nan" or "inf"
  too_large,   // beyond the type's range
  inexact,     // an integer that the type cannot hold exactly
};

// Digits only: no sign.
number_fault parse_u64(std::string_view text, std::uint64_t& value);

// Rounded to nearest, as a fraction has to be; too small a number becomes zero. parse_exact also
// refuses an integer that would be rounded, such as 9007199254740993.
number_fault parse_f32(std::string_view text, float& value);
number_fault parse_exact(std::string_view text, double& value);

// What is wrong, to be put behind what was written: "is not a number".
const char* reason_of(number_fault fault);

// A token for a message, in quotes: shortened, and bytes that are not text escaped.
std::string quoted(std::string_view token);

// A plain number of f32 at `at`, as files mostly have them: returns where it ends, or `at` where it
// is one for parse_f32. Up to 7 digits over a power of ten up to 10^10 are both exact in f32, so
// that one division rounds correctly (Clinger: How to read floating point numbers accurately, PLDI
// 1990).
inline const char* parse_plain_f32(const char* at, const char* end, float& value) {
  static constexpr float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                     1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const char* p = at;
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  std::uint32_t mantissa = 0;
  const char* digits = p;
  while (p != end && digit(*p) && mantissa < 1'000'000)
    mantissa = mantissa * 10 + static_cast<std::uint32_t>(*p++ - '0');
  const auto whole = p - digits;
  std::ptrdiff_t fraction = 0;
  if (p != end && *p == '.') {
    const char* point = p++;
    while (p != end && digit(*p) && mantissa < 1'000'000)
      mantissa = mantissa * 10 + static_cast<std::uint32_t>(*p++ - '0');
    fraction = p - point - 1;
  }
  const bool more = p != end && (digit(*p) || *p == '.' || *p == 'e' || *p == 'E');
  if (whole + fraction == 0 || fraction > 10 || more) return at;
  const float magnitude = static_cast<float>(mantissa) / powers[fraction];
  value = negative ? -magnitude : magnitude;
  return p;
}

}  // namespace troupe
