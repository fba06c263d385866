#pragma once
// Delayed block proximal gradient as workers know it: its own slots, and the linear app's
// evaluations. One is made for a process and serves all of its workers; safe from several threads.

#include <memory>

#include "apps/linear/blocks/block_plan.hpp"
#include "apps/linear/blocks/block_program.hpp"
#include "apps/linear/linear_application.hpp"
#include "core/file.hpp"

namespace troupe {

class block_application final : public application {
 public:
  block_application(const block_training& training, std::shared_ptr<const block_plan> plan,
                    std::shared_ptr<file_system> files,
                    std::shared_ptr<linear_application> evaluations,
                    std::shared_ptr<const dataset> train);

  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) override;
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                         meter& work_done) override {
    return evaluations_->evaluation(task, work_done);
  }

 private:
  const block_training training_;
  const std::shared_ptr<const block_plan> plan_;
  const std::shared_ptr<file_system> files_;
  const std::shared_ptr<linear_application> evaluations_;
  const std::shared_ptr<const dataset> train_;
};

}  // namespace troupe
