// The fuzzers' corpus, replayed: what once reached odd code goes on reaching it in every build. An
// input to a line, in base64 (RFC 4648, section 4).

#include <doctest/doctest.h>

#include <sstream>

#include "tests/fuzz/read_rows.hpp"
#include "tests/support/written_file.hpp"

using namespace troupe;

namespace {

std::string from_base64(const std::string& text) {
  static const std::string digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const auto digit = digits.find(c);
    REQUIRE(digit != std::string::npos);
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

}  // namespace

TEST_CASE("every input of the corpus is read as rows or refused, and never makes half a row") {
  CHECK(from_base64("AGEv/w==") == std::string("\0a/\xFF", 4));
  for (const std::string format : {"libsvm", "libffm", "criteo", "csv"}) {
    std::istringstream corpus(
        testing::read_file(TROUPE_SOURCE_DIR "/tests/fuzz/corpus/" + format + ".base64"));
    std::size_t inputs = 0;
    for (std::string line; std::getline(corpus, line); ++inputs) {
      CAPTURE(format);
      CAPTURE(line);
      fuzz::read_rows(format.c_str(), from_base64(line));
    }
    CHECK(inputs > 100);
  }
}
