#pragma once
// Paths as a job file writes them: "${TROUPE_DATA}/a9a/train.svm.xz".

#include <string>

#include "core/result.hpp"

namespace troupe::config {

// To which folder a relative path belongs; empty: it stays as it is. A path that begins with a
// variable belongs to `current`, since whoever set the variable knew only that.
struct path_base {
  std::string folder;
  std::string current;
};

// Of what a file writes: its folder, and the one this process is in. errc::io.
result<path_base> base_of(const std::string& file);

// ${NAME} becomes the environment's value, $$ a dollar. An error names a variable that is not set.
// An empty path stays empty.
result<std::string> path_of(const std::string& written, const path_base& base);

// What path_of() turns into `path`.
std::string written_path(const std::string& path);

}  // namespace troupe::config
