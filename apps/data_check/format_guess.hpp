#pragma once
// What format a file probably has, by its first lines.

#include <string>
#include <vector>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct format_guess {
  std::string format;                 // "libsvm"
  std::vector<std::string> settings;  // keys of a job as overrides: "data.format=libsvm"
  std::string toml;                   // the same as sections of a job file
};

// errc::bad_data: it looks like no format that comes with Troupe.
result<format_guess> guess_format(file_system& files, const std::string& path);
// The same of lines.
result<format_guess> guess_format(const std::vector<std::string>& lines, const std::string& name);

}  // namespace troupe
