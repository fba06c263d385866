#include "config/paths.hpp"

#include <cstdlib>
#include <filesystem>

namespace troupe::config {

result<path_base> base_of(const std::string& file) {
  std::error_code no_current_folder;
  const auto current = std::filesystem::current_path(no_current_folder);
  if (no_current_folder)
    return error{errc::io, "the current folder cannot be read: " + no_current_folder.message()};
  return path_base{(current / file).parent_path().lexically_normal().string(), current.string()};
}

result<std::string> path_of(const std::string& written, const path_base& base) {
  std::string path;
  for (std::size_t at = 0; at < written.size(); ++at) {
    if (written.compare(at, 2, "$$") == 0) {
      path += '$';
      ++at;
    } else if (written.compare(at, 2, "${") == 0) {
      const auto end = written.find('}', at);
      if (end == std::string::npos)
        return error{errc::bad_config, "'${' without its '}' in '" + written + "'"};
      const auto name = written.substr(at + 2, end - at - 2);
      const char* value = std::getenv(name.c_str());
      if (!value || !*value)
        return error{errc::bad_config, "the environment variable " + name + ", named in '" +
                                           written +
                                           "', is not set; set it, or write the path out"};
      path += value;
      at = end;
    } else {
      path += written[at];
    }
  }
  const auto& folder = written.rfind("${", 0) == 0 ? base.current : base.folder;
  if (path.empty() || folder.empty()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string written_path(const std::string& path) {
  std::string written;
  for (const char c : path) {
    written += c;
    if (c == '$') written += c;
  }
  return written;
}

}  // namespace troupe::config
