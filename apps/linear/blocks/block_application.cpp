#include "apps/linear/blocks/block_application.hpp"

#include <utility>

namespace troupe {

block_application::block_application(const block_training& training,
                                     std::shared_ptr<const block_plan> plan,
                                     std::shared_ptr<file_system> files,
                                     std::shared_ptr<linear_application> evaluations,
                                     std::shared_ptr<const dataset> train)
    : training_(training),
      plan_(std::move(plan)),
      files_(std::move(files)),
      evaluations_(std::move(evaluations)),
      train_(std::move(train)) {}

std::unique_ptr<slot_program> block_application::slot(std::uint32_t slot, meter& work_done) {
  const auto open = [files = files_, train = train_, plan = plan_, slots = training_.slots, slot] {
    return column_file::open(files, *train, *plan, slots, slot);
  };
  const auto rows = slot_part(train_->rows(), training_.slots, slot).rows();
  return std::make_unique<block_program>(training_, rows, open, &work_done);
}

}  // namespace troupe
