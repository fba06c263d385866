#pragma once
// The linear app as workers know it. One is made for a process and serves all of its workers; safe
// from several threads.

#include <map>
#include <memory>
#include <string>

#include "actors/worker/program.hpp"
#include "apps/linear/block_cache.hpp"
#include "apps/linear/linear_program.hpp"
#include "core/meter.hpp"

namespace troupe {

class linear_application final : public application {
 public:
  // By name: "train", and what there is of "test" and "validation".
  using data_sets = std::map<std::string, std::shared_ptr<const dataset>>;
  linear_application(const linear_training& training, const data_sets& data);

  std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) override;
  result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                         meter& work_done) override;

 private:
  const linear_training training_;
  std::map<std::string, std::shared_ptr<block_cache>> data_;
};

}  // namespace troupe
