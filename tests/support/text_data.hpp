#pragma once
// Rows of LIBSVM text for tests, and a data set of them.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "actors/worker/data/dataset.hpp"
#include "core/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace troupe::testing {

// `count` lines, of 0 to 12 features out of 500 each.
inline std::vector<std::string> random_lines(std::size_t count, std::uint64_t seed) {
  random_source random(seed);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = random.below(2) == 0 ? "1" : "-1";
    std::uint64_t index = 0;
    for (auto features = random.below(13); features > 0; --features) {
      index += 1 + random.below(38);
      line += " " + std::to_string(index) + ":" + std::to_string(1 + random.below(3));
    }
    lines.push_back(line);
  }
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

inline result<std::shared_ptr<const dataset>> open_data(const temporary_folder& folder,
                                                        std::vector<std::string> sources,
                                                        data_options options = {},
                                                        meter* work_done = nullptr) {
  options.cache_folder = folder / "cache";
  return dataset::open(posix_file_system(), std::move(sources), std::move(options), work_done);
}

inline data_options small_blocks() {
  data_options options;
  options.blocks.rows = 64;
  return options;
}

inline std::shared_ptr<const dataset> opened(const temporary_folder& folder,
                                             std::vector<std::string> sources,
                                             data_options options = small_blocks(),
                                             meter* work_done = nullptr) {
  auto set = open_data(folder, std::move(sources), std::move(options), work_done);
  if (!set) FAIL(set.failure().text);
  return *set;
}

// All blocks of a data set, as bytes.
inline std::vector<std::byte> content(const dataset& set) {
  byte_writer all;
  for (std::size_t i = 0; i < set.blocks().size(); ++i) {
    auto rows = set.load_block(i);
    if (!rows) FAIL(rows.failure().text);
    encode(**rows, all);
  }
  return all.bytes();
}

}  // namespace troupe::testing
