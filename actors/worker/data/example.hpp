#pragma once
// One row of training data, as a reader yields it: what was written, before any model gives it a
// meaning.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/keys.hpp"

namespace troupe {

struct feature {
  key_id key = 0;
  float value = 1;
  std::uint32_t field = 0;  // 0 where the format knows no fields
};

struct example {
  double label = 0;      // as written: mapping {-1, +1} to classes is the application's matter
  bool labelled = true;  // false only where the reader was told that labels may be missing
  double weight = 1;
  std::optional<std::string> id;
  std::optional<std::uint64_t> group;  // rows of one query or user
  // In the order written. A reader yields no (key, field) twice; hashing to few bits and
  // interactions may.
  std::vector<feature> features;

  void clear() {
    label = 0;
    labelled = true;
    weight = 1;
    id.reset();
    group.reset();
    features.clear();
  }
};

}  // namespace troupe
