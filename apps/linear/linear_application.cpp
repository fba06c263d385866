#include "apps/linear/linear_application.hpp"

#include "apps/linear/linear_evaluation.hpp"
#include "core/text.hpp"

namespace troupe {

linear_application::linear_application(const linear_training& training,
                                       std::shared_ptr<const dataset> train,
                                       std::shared_ptr<const dataset> test)
    : training_(training),
      train_(std::make_shared<block_cache>(std::move(train))),
      test_(test ? std::make_shared<block_cache>(std::move(test)) : nullptr) {}

std::unique_ptr<slot_program> linear_application::slot(std::uint32_t slot, meter& work_done) {
  return std::make_unique<linear_program>(training_, slot, train_, &work_done);
}

result<std::unique_ptr<evaluation_program>> linear_application::evaluation(
    const pb::EvaluateTask& task, meter& work_done) {
  const auto data = task.data_set() == "train"  ? train_
                    : task.data_set() == "test" ? test_
                                                : nullptr;
  if (!data) return error{errc::bad_request, "there is no data set '" + task.data_set() + "'"};
  if (task.part() >= task.parts())
    return error{errc::bad_request, format("part %u of %u of the %s data", task.part(),
                                           task.parts(), task.data_set().c_str())};
  auto made = linear_evaluation::make(training_.model, task.data_set(), task.part(), task.parts(),
                                      data, &work_done);
  if (!made) return made.failure();
  return std::unique_ptr<evaluation_program>(std::move(*made));
}

}  // namespace troupe
