#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>

#include "actors/worker/data/libsvm.hpp"
#include "actors/worker/data/number.hpp"
#include "core/text.hpp"

using namespace troupe;

namespace {

// What the reader makes of a line: "label key:value ..." as the example holds it, "nothing", or
// "column: reason".
std::string reading_of(std::string_view line, std::uint64_t base = 1) {
  format_options options;
  options.index_base = base;
  auto reader = make_libsvm_reader(options);
  REQUIRE(reader);
  example row;
  row_fault fault;
  switch ((*reader)->read(line, row, fault)) {
    case row_outcome::nothing:
      return "nothing";
    case row_outcome::fault:
      return std::to_string(fault.column) + ": " + fault.reason;
    case row_outcome::row:
      break;
  }
  CHECK(row.weight == 1);
  CHECK_FALSE(row.id);
  CHECK_FALSE(row.group);
  std::string text = format("%.17g", row.label);
  for (const auto& one : row.features)
    text += format(" %llu:%.9g", static_cast<unsigned long long>(one.key),
                   static_cast<double>(one.value));
  return text;
}

}  // namespace

TEST_CASE("LIBSVM lines become examples") {
  const std::pair<const char*, const char*> cases[] = {
      {"1 3:0.5 7:1 # note", "1 2:0.5 6:1"},
      {"1 3:0.5#note 7:1", "1 2:0.5"},
      {"1", "1"},
      {"-1 ", "-1"},
      {"1 # no features", "1"},
      {"+1 1:1", "1 0:1"},
      {"", "nothing"},
      {" \t ", "nothing"},
      {"# a comment", "nothing"},
      {"  # a comment\x80", "nothing"},
      {"\t0.5\t2:1 \t 3:1\t", "0.5 1:1 2:1"},
      {"3e2 4:1e-3", "300 3:0.00100000005"},
      {"1 9:1 4:2", "1 8:1 3:2"},  // order is free
      {"1 1:-0.25 2:+3 3:.5 4:2. 5:0", "1 0:-0.25 1:3 2:0.5 3:2 4:0"},
      {"1 007:1", "1 6:1"},
      {"1 0000000000000000000000005:1", "1 4:1"},
      {"1 1:0.1 2:16777217 3:0.123456789012", "1 0:0.100000001 1:16777216 2:0.123456791"},
      {"1 1:1e-60 2:-1e-400", "1 0:0 1:-0"},
      {"1 1:3.4028234e38", "1 0:3.40282347e+38"},
  };
  for (const auto& [line, expected] : cases) {
    CAPTURE(line);
    CHECK(reading_of(line) == expected);
  }
}

TEST_CASE("indices are exact over all 64 bits, in either base") {
  CHECK(reading_of("1 9223372036854775813:1", 1) == "1 9223372036854775812:1");
  CHECK(reading_of("1 9223372036854775813:1", 0) == "1 9223372036854775813:1");
  CHECK(reading_of("1 18446744073709551615:1", 1) == "1 18446744073709551614:1");
  CHECK(reading_of("1 18446744073709551615:0.5", 0) == "1 18446744073709551615:0.5");
  CHECK(reading_of("1 0:1 1:1", 0) == "1 0:1 1:1");
  CHECK(reading_of("1 18446744073709551616:1", 0) ==
        "3: index '18446744073709551616' is above 2^64-1");
  CHECK(reading_of("1 5:1 0:1", 1) ==
        "7: index 0 in data whose indices start at 1 (see index_base)");
}

TEST_CASE("faulty lines name the column and the reason") {
  const std::pair<std::string, std::string> cases[] = {
      {"x 1:1", "1: label 'x' is not a number"},
      {"nan 1:1", "1: label 'nan' is not finite"},
      {" -inf 1:1", "2: label '-inf' is not finite"},
      {"1e400", "1: label '1e400' is too large"},
      {"0x10", "1: label '0x10' is not a number"},
      {"+-1", "1: label '+-1' is not a number"},
      {"9007199254740993 1:1",
       "1: label '9007199254740993' is an integer that 64-bit floats cannot hold exactly"},
      {"1,2 1:1", "1: label '1,2' is not a number; several labels are not read"},
      {"3:1 4:1",
       "1: a label must come before '3:1'; label:weight is read with data.label_weights"},
      {"1 3", "3: '3' has no colon: a feature is index:value"},
      {"1 3 :1", "3: '3' has no colon: a feature is index:value"},
      {"1 3: 4:1", "3: '3:' has no value after its colon"},
      {"1 :4", "3: ':4' has no index before its colon"},
      {"1 3:x", "5: value 'x' is not a number"},
      {"1 3:1x", "5: value '1x' is not a number"},
      {"1 3:1 4:nan", "9: value 'nan' is not finite"},
      {"1 3:inf", "5: value 'inf' is not finite"},
      {"1 3:1e39", "5: value '1e39' is too large for a 32-bit float"},
      {"1 3:-1e999", "5: value '-1e999' is too large for a 32-bit float"},
      {"1 -3:1", "3: index '-3' is not an integer from 1 to 2^64-1"},
      {"1 +3:1", "3: index '+3' is not an integer from 1 to 2^64-1"},
      {"1 3.0:1", "3: index '3.0' is not an integer from 1 to 2^64-1"},
      {"1 name:1", "3: index 'name' is not an integer from 1 to 2^64-1"},
      {"1 sid:3 4:1", "3: 'sid:' belongs to a dialect of LIBSVM text that is not read"},
      {"1 1:4:0.5",
       "3: '1:4:0.5' has two colons: field:index:value is libffm text (data.format = \"libffm\")"},
      {"1 3:1 4:1 3:2", "11: index 3 comes twice in this line"},
      {"1 3:1 3:1", "7: index 3 comes twice in this line"},
      {"1 9:1 18446744073709551615:1 18446744073709551615:2",
       "30: index 18446744073709551615 comes twice in this line"},
      {std::string("1 3:1\0 4:1", 10), "6: byte 0x00 has no place in LIBSVM text"},
      {"1\xC2\xA0"
       "3:1",
       "2: byte 0xC2 has no place in LIBSVM text"},
      {"1 3:1\r2 3:1", "6: byte 0x0D has no place in LIBSVM text"},
      {"\x7F"
       "ELF\x02",
       "1: byte 0x7F has no place in LIBSVM text"},
  };
  for (const auto& [line, expected] : cases) {
    CAPTURE(line);
    CHECK(reading_of(line) == expected);
  }
  CHECK(reading_of("1 " + std::string(100, 'y')) ==
        "3: '" + std::string(40, 'y') + "...' has no colon: a feature is index:value");
}

TEST_CASE("labels that are integers are exact or refused") {
  const std::tuple<const char*, number_fault, double> cases[] = {
      {"9007199254740992", number_fault::none, 0x1p53},
      {"9007199254740993", number_fault::inexact, 0},
      {"9007199254740993.0", number_fault::inexact, 0},
      {"9007199254740993.5", number_fault::none, 9007199254740994.0},  // a fraction is rounded
      {"9.007199254740993e15", number_fault::inexact, 0},
      {"9007199254740993000e-3", number_fault::inexact, 0},
      {"9007199254740994", number_fault::none, 9007199254740994.0},
      {"-9007199254740994", number_fault::none, -9007199254740994.0},
      {"1180591620717411303424", number_fault::none, 0x1p70},
      {"1180591620717411303425", number_fault::inexact, 0},
      {"1e22", number_fault::none, 1e22},
      {"1e23", number_fault::inexact, 0},
      {"000.000", number_fault::none, 0},
      {"1e-400", number_fault::none, 0},
      {"0.1", number_fault::none, 0.1},
      {"1e309", number_fault::too_large, 0},
      {"1e99999999999999999999", number_fault::too_large, 0},
      {"1e-99999999999999999999", number_fault::none, 0},
      {"", number_fault::malformed, 0},
      {"+", number_fault::malformed, 0},
      {".", number_fault::malformed, 0},
      {"1e", number_fault::malformed, 0},
      {" 1", number_fault::malformed, 0},
  };
  for (const auto& [text, fault, expected] : cases) {
    CAPTURE(text);
    double value = 0;
    CHECK(parse_exact(text, value) == fault);
    if (fault == number_fault::none) CHECK(value == expected);
  }
}

TEST_CASE("values are the nearest 32-bit floats") {
  CHECK(rc::check("as strtof reads them", [](std::uint32_t digits, std::uint8_t point) {
    const auto text = format("%u", digits);
    const auto cut = text.size() - point % (text.size() + 1);
    const std::string shown = text.substr(0, cut) + "." + text.substr(cut);
    const auto row = reading_of("1 1:" + shown);
    const auto nearest = static_cast<double>(std::strtof(shown.c_str(), nullptr));
    RC_ASSERT(row == "1 0:" + format("%.9g", nearest));
  }));
}

TEST_CASE("any bytes are either an example or a fault within the line") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& choices) {
    std::string line = "1 ";
    static constexpr char likely[] = "0123456789::  .-+e#\tqid\0\xFF";
    for (const auto c : choices) line += likely[c % (sizeof likely - 1)];
    auto reader = make_libsvm_reader({});
    example row;
    row_fault fault;
    const auto outcome = (*reader)->read(line, row, fault);
    if (outcome == row_outcome::fault) {
      RC_ASSERT(fault.column >= 1u);
      RC_ASSERT(fault.column <= line.size());
      RC_ASSERT(!fault.reason.empty());
    }
    for (const auto& one : row.features)
      if (outcome == row_outcome::row) RC_ASSERT(std::isfinite(one.value));
  }));
}

TEST_CASE("formats are found by name, and a program adds its own") {
  CHECK(row_formats::global().find("libsvm"));
  CHECK(row_formats::global().find("libsvn").failure().text ==
        "the data format 'libsvn' is not known; did you mean 'libsvm'?");
  CHECK(row_formats::global().find("parquet").failure().code == errc::bad_config);
  format_options odd;
  odd.index_base = 2;
  CHECK_FALSE(make_libsvm_reader(odd));
}
