#pragma once
// Real data sets, where a machine has them: TROUPE_DATA names a folder with one folder a set
// ("a9a", "criteo20k"), each with train.svm.xz and test.svm.xz. A test without its data says so and
// passes:
//
//   const auto folder = testing::real_data("a9a");
//   if (!folder) {
//     MESSAGE("skipped: TROUPE_DATA names no folder with a9a");
//     return;
//   }

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace troupe::testing {

inline std::optional<std::string> real_data(const char* set) {
  const char* root = std::getenv("TROUPE_DATA");
  if (!root || !*root) return std::nullopt;
  const auto folder = std::string(root) + "/" + set;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

}  // namespace troupe::testing
