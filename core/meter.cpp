#include "core/meter.hpp"

namespace troupe {

const char* to_string(work kind) {
  static constexpr const char* names[kinds_of_work] = {
      "examples",      "features",      "keys_pushed", "keys_pulled",
      "keys_prepared", "bytes_encoded", "bytes_read",  "bytes_written"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace troupe
