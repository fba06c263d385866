#pragma once
// The linear app as workers know it. One is made for a process and serves all of its workers; safe
// from several threads.

#include <memory>

#include "actors/worker/program.hpp"
#include "apps/linear/block_cache.hpp"
#include "apps/linear/linear_program.hpp"
#include "core/meter.hpp"

namespace troupe {

class linear_application final : public application {
 public:
  // `test` may be null.
  linear_application(const linear_training& training, std::shared_ptr<const dataset> train,
                     std::shared_ptr<const dataset> test);

  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) override;
  // Of the data sets "train" and "test".
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                         meter& work_done) override;

 private:
  const linear_training training_;
  const std::shared_ptr<block_cache> train_, test_;
};

}  // namespace troupe
