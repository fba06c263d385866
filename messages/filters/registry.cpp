#include "messages/filters/registry.hpp"

#include "core/text.hpp"

namespace troupe {

filter_registry& filter_registry::global() {
  static filter_registry& only = *[] {
    auto* made = new filter_registry;  // never destroyed: used from any thread until the end
    for (auto entry : {key_cache_entry(), key_delta_entry(), value_delta_entry(), zstd_entry(),
                       lz4_entry(), bf16_entry(), f16_entry(), fixed8_entry(), fixed16_entry(),
                       significant_entry(), random_skip_entry()})
      (void)made->add(std::move(entry));
    return made;
  }();
  return only;
}

result<void> filter_registry::add(filter_entry entry) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto name = entry.name;
  if (!entries_.emplace(name, std::move(entry)).second)
    return error{errc::bad_usage, "there is a filter '" + name + "' already"};
  return {};
}

result<filter_entry> filter_registry::find(const std::string& name) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, entry] : entries_) known.push_back(other);
  return error{errc::bad_config,
               "there is no filter '" + name + "'; did you mean '" + nearest(name, known) + "'?"};
}

std::vector<std::string> filter_registry::names() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

result<filter_numbers> numbers_of(const pb::FilterSpec& spec, const filter_entry& entry) {
  filter_numbers numbers;
  for (const auto& p : entry.parameters) numbers[p.name] = p.fallback;
  for (const auto& given : spec.parameters()) {
    const auto known = numbers.find(given.name());
    if (known == numbers.end())
      return error{errc::bad_config,
                   "the filter '" + entry.name + "' has no number '" + given.name() + "'"};
    known->second = given.value();
  }
  for (const auto& p : entry.parameters)
    if (!(numbers[p.name] >= p.least && numbers[p.name] <= p.most))
      return error{errc::bad_config,
                   format("the filter '%s': %s is %g; it must be from %g to %g", entry.name.c_str(),
                          p.name.c_str(), numbers[p.name], p.least, p.most)};
  return numbers;
}

}  // namespace troupe
