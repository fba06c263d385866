#include "config/number_text.hpp"

#include <charconv>
#include <string_view>

namespace troupe::config {

std::string number_text(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  // TOML reads digits alone as a 64-bit integer, which a large number would overflow.
  constexpr std::size_t most_integer_digits = 15;
  if (text.find_first_not_of("-0123456789") == std::string::npos &&
      text.size() > most_integer_digits)
    text += ".0";
  return text;
}

}  // namespace troupe::config
