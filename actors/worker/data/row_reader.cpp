#include "actors/worker/data/row_reader.hpp"

#include "actors/worker/data/libsvm.hpp"
#include "core/text.hpp"

namespace troupe {

row_formats& row_formats::global() {
  static row_formats formats;
  static const bool filled = [] {
    formats.add("libsvm", {1, make_libsvm_reader});
    return true;
  }();
  (void)filled;
  return formats;
}

void row_formats::add(const std::string& name, row_format format) {
  const std::lock_guard guard(mutex_);
  formats_[name] = std::move(format);
}

result<row_format> row_formats::find(const std::string& name) const {
  {
    const std::lock_guard guard(mutex_);
    const auto found = formats_.find(name);
    if (found != formats_.end()) return found->second;
  }
  const auto known = names();
  const auto likely = nearest(name, known);
  std::string text = "the data format '" + name + "' is not known";
  if (!likely.empty()) return error{errc::bad_config, text + "; did you mean '" + likely + "'?"};
  text += "; known are";
  for (const auto& one : known) text += " '" + one + "'";
  return error{errc::bad_config, text};
}

std::vector<std::string> row_formats::names() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, format] : formats_) names.push_back(name);
  return names;
}

}  // namespace troupe
