#include "apps/commands/history_file.hpp"

#include "apps/console/evaluation_line.hpp"

namespace troupe {

result<void> history_file::add(const pb::EvaluationRecord& record) {
  const std::lock_guard guard(mutex_);
  if (!file_) {
    auto made = files_->create(path_);
    if (!made) return made.failure();
    file_ = std::move(*made);
  }
  const auto line = console::json_line(record);
  auto written = file_->append({reinterpret_cast<const std::byte*>(line.data()), line.size()});
  // The last line is there before the model is given its name.
  return !written || !record.final() ? written : file_->sync();
}

}  // namespace troupe
