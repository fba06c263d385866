// A libFuzzer target for one reader, TROUPE_FORMAT (scripts/fuzz).

#include "tests/fuzz/read_rows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::fuzz::read_rows(TROUPE_FORMAT, {reinterpret_cast<const char*>(data), size});
  return 0;
}
