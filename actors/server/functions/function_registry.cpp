#include "actors/server/functions/function_registry.hpp"

#include "actors/server/functions/builtin_functions.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

// NaN is within no bounds.
bool within(double value, double least, double most) {
  return value >= least && value <= most;
}

result<void> check_penalty(const function_spec& spec, const function_entry& entry, const char* name,
                           double value) {
  if (!within(value, 0, 1e300))
    return error{errc::bad_config, format("function '%s': %s is %g; it must be 0 or more",
                                          spec.name.c_str(), name, value)};
  if (value > 0 && !entry.penalises)
    return error{errc::bad_config, format("function '%s' applies no penalty, so %s must be 0",
                                          spec.name.c_str(), name)};
  return {};
}

}  // namespace

function_registry& function_registry::global() {
  static function_registry registry;
  static const bool filled = [] {
    for (auto& entry : builtin_functions()) (void)registry.add(std::move(entry));
    return true;
  }();
  (void)filled;
  return registry;
}

result<void> function_registry::add(function_entry entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto name = entry.name;
  if (entries_.emplace(name, std::move(entry)).second) return {};
  return error{errc::bad_usage, "there is a server function '" + name + "' already"};
}

result<function_entry> function_registry::find(const std::string& name) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
  }
  return error{errc::bad_config,
               "unknown server function '" + name + "'" + did_you_mean(name, names())};
}

std::vector<std::string> function_registry::names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

result<function_numbers> check(const function_spec& spec, const function_entry& entry) {
  function_numbers numbers;
  std::vector<std::string> known;
  for (const auto& p : entry.parameters) {
    numbers.parameters[p.name] = p.fallback;
    known.push_back(p.name);
  }
  for (const auto& [name, value] : spec.parameters) {
    if (numbers.parameters.count(name) == 0)
      return error{errc::bad_config, "function '" + spec.name + "' has no parameter '" + name +
                                         "'" + did_you_mean(name, known)};
    numbers.parameters[name] = value;
  }
  for (const auto& p : entry.parameters)
    if (const double value = numbers.at(p.name); !within(value, p.least, p.most))
      return error{errc::bad_config,
                   format("function '%s': %s is %g; it must be from %g to %g", spec.name.c_str(),
                          p.name.c_str(), value, p.least, p.most)};
  for (const auto& [name, value] : {std::pair{"l1", spec.l1}, std::pair{"l2", spec.l2}})
    if (auto fits = check_penalty(spec, entry, name, value); !fits) return fits.failure();
  if (entry.uses_rate)
    if (auto fits = check(spec.rate); !fits)
      return error{errc::bad_config, "function '" + spec.name + "': " + fits.failure().text};
  if (spec.clip != clipping::none && !within(spec.clip_at, 1e-300, 1e300))
    return error{errc::bad_config, format("function '%s': gradients cannot be clipped at %g",
                                          spec.name.c_str(), spec.clip_at)};
  numbers.l1 = spec.l1;
  numbers.l2 = spec.l2;
  return numbers;
}

}  // namespace troupe
