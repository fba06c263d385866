#include "core/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace troupe {
namespace {

constexpr const char* text_pattern = "%Y-%m-%d %H:%M:%S.%e %^%-7l%$ %n: %v";

spdlog::level::level_enum level_of(log_level level) {
  switch (level) {
    case log_level::trace:
      return spdlog::level::trace;
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

// Escapes what JSON text may not hold.
std::string json_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

struct state {
  std::mutex mutex;
  log_settings settings;
  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::map<std::string, std::shared_ptr<spdlog::logger>> loggers;
};
state& the_state() {
  static state s;
  return s;
}

std::shared_ptr<spdlog::logger> logger_of(const std::string& component) {
  auto& s = the_state();
  std::lock_guard guard(s.mutex);
  auto& logger = s.loggers[component];
  if (!logger) {
    logger = std::make_shared<spdlog::logger>(component, s.sink);
    const auto own = s.settings.components.find(component);
    logger->set_level(
        level_of(own == s.settings.components.end() ? s.settings.level : own->second));
    logger->flush_on(spdlog::level::warn);
    logger->set_pattern(
        s.settings.json
            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","component":"%n","text":"%v"})"
            : text_pattern);
  }
  return logger;
}

}  // namespace

result<void> configure_log(const log_settings& settings) {
  auto& s = the_state();
  std::lock_guard guard(s.mutex);
  s.settings = settings;
  s.loggers.clear();
  try {
    if (settings.file.empty())
      s.sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else if (settings.rotate_at > 0)
      s.sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          settings.file, settings.rotate_at, settings.kept);
    else
      s.sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file);
  } catch (const spdlog::spdlog_ex& failed) {
    return error{errc::io, "log file '" + settings.file + "': " + failed.what()};
  }
  return {};
}

bool logs(const char* component, log_level level) {
  return logger_of(component)->should_log(level_of(level));
}

void log(const char* component, log_level level, const std::string& text) {
  const auto logger = logger_of(component);
  if (!logger->should_log(level_of(level))) return;
  bool json;
  {
    auto& s = the_state();
    std::lock_guard guard(s.mutex);
    json = s.settings.json;
  }
  logger->log(level_of(level), json ? json_text(text) : text);
}

}  // namespace troupe
