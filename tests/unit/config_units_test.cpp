#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>

#include "config/number_text.hpp"
#include "config/units.hpp"

namespace troupe::config {

TEST_CASE("a duration is a decimal number and a unit") {
  const struct {
    const char* text;
    std::int64_t nanoseconds;
  } table[] = {
      {"0 s", 0},
      {"7 ns", 7},
      {"3 us", 3'000},
      {"200 ms", 200'000'000},
      {"200ms", 200'000'000},
      {"  5 s ", 5'000'000'000},
      {"1.5 s", 1'500'000'000},
      {"2 min", 120'000'000'000},
      {"0.5 h", 1'800'000'000'000},
      {"30 d", 2'592'000'000'000'000},
      {"1.9 ns", 1},
      {"0.123456789 s", 123'456'789},
  };
  for (const auto& [text, nanoseconds] : table) {
    CAPTURE(text);
    const auto parsed = parse_duration(text);
    REQUIRE(parsed);
    CHECK(*parsed == nanoseconds);
  }
}

TEST_CASE("a size counts in powers of 1000 or of 1024") {
  const struct {
    const char* text;
    std::int64_t bytes;
  } table[] = {
      {"12 B", 12},
      {"1 kB", 1'000},
      {"1 KiB", 1'024},
      {"1.5 GB", 1'500'000'000},
      {"64 MiB", 67'108'864},
      {"64MiB", 67'108'864},
      {"2 TB", 2'000'000'000'000},
      {"1 TiB", 1'099'511'627'776},
  };
  for (const auto& [text, bytes] : table) {
    CAPTURE(text);
    const auto parsed = parse_size(text);
    REQUIRE(parsed);
    CHECK(*parsed == bytes);
  }
}

TEST_CASE("what is no quantity is refused and told the units") {
  const struct {
    const char* text;
    const char* why;
  } table[] = {
      {"", "'' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"5", "'5' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"5 sec",
       "'5 sec' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"-5 s",
       "'-5 s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"1. s",
       "'1. s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {".5 s",
       "'.5 s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"1.5.5 s",
       "'1.5.5 s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"1e3 s",
       "'1e3 s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"s", "'s' is not a duration; write a number and one of the units ns, us, ms, s, min, h, d"},
      {"300000 d", "'300000 d' is too large"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    const auto parsed = parse_duration(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.failure().code == errc::bad_config);
    CHECK(parsed.failure().text == why);
  }
  CHECK(parse_size("5 mb").failure().text ==
        "'5 mb' is not a size; write a number and one of the units B, kB, KiB, MB, MiB, GB, GiB, "
        "TB, TiB");
  CHECK_FALSE(parse_size("99999999999999999999 B"));
}

TEST_CASE("a quantity is written in its shortest form") {
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(200'000'000) == "200 ms");
  CHECK(duration_text(120'000'000'000) == "2 min");
  CHECK(duration_text(90'000'000'000) == "90 s");
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(64 << 20) == "64 MiB");
  CHECK(size_text(1'500'000'000) == "1500 MB");
  CHECK(size_text(1'001) == "1001 B");
}

TEST_CASE("what is written is read as the same") {
  CHECK(rc::check("durations and sizes", [] {
    const auto value = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 59) * 1;
    const auto rounded =
        value - value % *rc::gen::element<std::int64_t>(1, 1000, 1024, 1'000'000, 60'000'000'000);
    for (const auto v : {value, rounded}) {
      RC_ASSERT(*parse_duration(duration_text(v)) == v);
      RC_ASSERT(*parse_size(size_text(v)) == v);
    }
  }));
  CHECK(rc::check("numbers",
                  [](double value) { RC_ASSERT(std::stod(number_text(value)) == value); }));
}

}  // namespace troupe::config
