#pragma once
// A shard on its way into files, "TABLE.shard-N.rows" each: what is to be written next, while
// pushes go on.

#include <functional>
#include <memory>
#include <optional>

#include "actors/server/row_file.hpp"
#include "actors/server/shard.hpp"
#include "core/file.hpp"
#include "messages/control.pb.h"

namespace troupe {

class saving {
 public:
  saving(std::shared_ptr<file_system> files, pb::SavePart request);

  const pb::SavePart& request() const { return request_; }
  // A piece of work for the background, if the last one is done and there is more: it reads its
  // rows now. Nothing: wait, or see over().
  using job = std::function<result<void>()>;
  std::optional<job> next(shard* of);
  void on_written(const result<void>& outcome);
  // The answer, when there is one.
  const std::optional<pb::SavedPart>& over() const { return over_; }

 private:
  void fail(const std::string& why, bool again);

  const std::shared_ptr<file_system> files_;
  const pb::SavePart request_;
  pb::SavedPart saved_;
  bool begun_ = false, writing_ = false;
  std::shared_ptr<std::unique_ptr<row_file_writer>> writer_;
  std::optional<pb::SavedPart> over_;
};

}  // namespace troupe
