#include "apps/commands/history_file.hpp"

#include "apps/console/evaluation_line.hpp"

namespace troupe {

result<void> history_file::add(const pb::EvaluationRecord& record) {
  const std::lock_guard guard(mutex_);
  if (!file_) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    std::string before;
    if (keeps_ && files_->exists(path_)) {
      auto text = read_text(*files_, path_, most);
      if (!text) return text.failure();
      // A line that was being written when the process died is not one.
      before = text->substr(0, text->rfind('\n') + 1);
    }
    auto made = files_->create(path_);
    if (!made) return made.failure();
    file_ = std::move(*made);
    if (!before.empty())
      if (auto done =
              file_->append({reinterpret_cast<const std::byte*>(before.data()), before.size()});
          !done)
        return done;
  }
  const auto line = console::json_line(record);
  auto written = file_->append({reinterpret_cast<const std::byte*>(line.data()), line.size()});
  // The last line is there before the model is given its name.
  return !written || !record.final() ? written : file_->sync();
}

}  // namespace troupe
