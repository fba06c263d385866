#pragma once
// The folder that a path's last name is in, whose sync makes that name durable.

#include <string>

namespace troupe {

inline std::string parent_folder(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace troupe
