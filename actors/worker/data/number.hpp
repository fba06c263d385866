#pragma once
// Numbers as text files spell them, taken without losing anything silently. Decimal notation with
// an optional sign, fraction and exponent; no locale, no hexadecimal. The whole of the text must be
// the number.

#include <cstdint>
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

}  // namespace troupe
