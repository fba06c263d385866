#pragma once
// Entries that programs look up by name and add to: data formats, metrics. Thread-safe.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/text.hpp"

namespace troupe {

template <class Entry>
class registry {
 public:
  // `what` the entries are, for errors: "metric".
  explicit registry(std::string what) : what_(std::move(what)) {}

  // Replaces one of that name.
  void add(const std::string& name, Entry entry) {
    const std::lock_guard guard(mutex_);
    entries_[name] = std::move(entry);
  }

  // errc::bad_config: there is none; the error names the nearest, or all.
  result<Entry> find(const std::string& name) const {
    {
      const std::lock_guard guard(mutex_);
      const auto found = entries_.find(name);
      if (found != entries_.end()) return found->second;
    }
    const auto known = names();
    const auto likely = nearest(name, known);
    std::string text = "the " + what_ + " '" + name + "' is not known";
    if (!likely.empty()) return error{errc::bad_config, text + "; did you mean '" + likely + "'?"};
    text += "; known are";
    for (const auto& one : known) text += " '" + one + "'";
    return error{errc::bad_config, text};
  }

  std::vector<std::string> names() const {  // sorted
    const std::lock_guard guard(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, entry] : entries_) all.push_back(name);
    return all;
  }

 private:
  const std::string what_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace troupe
