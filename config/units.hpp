#pragma once
// Durations and sizes as people write them: a decimal number and a unit, "200 ms", "1.5 GB",
// "64MiB".

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace troupe::config {

// Nanoseconds. Units: ns us ms s min h d. A fraction of a nanosecond is dropped. Errors name the
// text and the units.
result<std::int64_t> parse_duration(std::string_view text);

// Bytes. Units: B kB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024). A fraction of a
// byte is dropped.
result<std::int64_t> parse_size(std::string_view text);

// The shortest text of a whole number and a unit that is read as exactly this; for values of at
// least 0.
std::string duration_text(std::int64_t nanoseconds);
std::string size_text(std::int64_t bytes);

}  // namespace troupe::config
