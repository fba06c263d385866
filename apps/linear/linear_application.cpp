#include "apps/linear/linear_application.hpp"

#include "apps/linear/linear_evaluation.hpp"
#include "core/text.hpp"

namespace troupe {

linear_application::linear_application(const linear_training& training, const data_sets& data)
    : training_(training) {
  for (const auto& [name, set] : data)
    data_.emplace(name, std::make_shared<block_cache>(
                            set, block_cache::usual_bytes / (name == "train" ? 1 : 4)));
}

std::unique_ptr<slot_program> linear_application::slot(std::uint32_t slot, meter& work_done) {
  return std::make_unique<linear_program>(training_, slot, data_.at("train"), &work_done);
}

result<std::unique_ptr<evaluation_program>> linear_application::evaluation(
    const pb::EvaluateTask& task, meter& work_done) {
  const auto found = data_.find(task.data_set());
  const auto data = found == data_.end() ? nullptr : found->second;
  if (!data) return error{errc::bad_request, "there is no data set '" + task.data_set() + "'"};
  if (task.part() >= task.parts())
    return error{errc::bad_request, format("part %u of %u of the %s data", task.part(),
                                           task.parts(), task.data_set().c_str())};
  auto made = linear_evaluation::make(training_.model, task.data_set(), task.part(), task.parts(),
                                      data, &work_done);
  if (!made) return made.failure();
  if (task.sums_only()) (*made)->answer_sums_only();
  return std::unique_ptr<evaluation_program>(std::move(*made));
}

}  // namespace troupe
