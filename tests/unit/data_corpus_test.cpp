// The fuzzers' corpus, replayed: what once reached odd code goes on reaching it in every build.

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/fuzz/read_rows.hpp"
#include "tests/support/written_file.hpp"

namespace fs = std::filesystem;
using namespace troupe;

TEST_CASE("every input of the corpus is read as rows or refused, and never makes half a row") {
  for (const std::string format : {"libsvm", "libffm", "criteo", "csv"}) {
    CAPTURE(format);
    std::size_t inputs = 0;
    for (const auto& entry :
         fs::directory_iterator(TROUPE_SOURCE_DIR "/tests/fuzz/corpus/" + format)) {
      CAPTURE(entry.path().string());
      fuzz::read_rows(format.c_str(), testing::read_file(entry.path().string()));
      ++inputs;
    }
    CHECK(inputs > 0);
  }
}
