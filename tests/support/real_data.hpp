#pragma once
// Real data sets, where a machine has them: TROUPE_DATA names a folder with one folder a set
// ("a9a", "criteo20k"), each with train.svm.xz and test.svm.xz; where it is not set, the folder
// shared/data beside the project counts. A test without its data says so and passes:
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

// The folder that has one folder a set; it need not be there.
inline std::string real_data_root() {
  const char* named = std::getenv("TROUPE_DATA");
  return named && *named ? named : TROUPE_SOURCE_DIR "/../shared/data";
}

inline std::optional<std::string> real_data(const char* set) {
  const auto folder = real_data_root() + "/" + set;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

}  // namespace troupe::testing
