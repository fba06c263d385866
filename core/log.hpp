#pragma once
// What a component has to say. One line a message, level and component by configuration; nothing is
// formatted that is not shown. Components: scheduler, server, worker, supervisor, links, data,
// job, traffic (single messages between slots and servers).

#include <cstdint>
#include <map>
#include <string>

#include "core/result.hpp"

namespace troupe {

enum class log_level { trace, debug, info, warning, error, off };

struct log_settings {
  log_level level = log_level::warning;
  std::map<std::string, log_level> components;  // those that differ
  bool json = false;                            // one JSON object to a line, else text
  std::string file;                             // empty: standard error
  std::uint64_t rotate_at = 0;                  // bytes of a file; 0: it grows
  std::uint32_t kept = 3;                       // closed files: FILE.1, FILE.2, ...
};

result<void> configure_log(const log_settings& settings);
bool logs(const char* component, log_level level);
void log(const char* component, log_level level, const std::string& text);

}  // namespace troupe
