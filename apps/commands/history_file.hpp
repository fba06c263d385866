#pragma once
// history.jsonl: a line to each evaluation, written when it is known.

#include <memory>
#include <mutex>
#include <string>

#include "core/file.hpp"
#include "messages/control.pb.h"

namespace troupe {

// Safe from several threads. What was there before is replaced by the first line, or, where the job
// has begun in an earlier process, kept.
class history_file {
 public:
  history_file(std::shared_ptr<file_system> files, std::string path, bool keeps)
      : files_(std::move(files)), path_(std::move(path)), keeps_(keeps) {}
  result<void> add(const pb::EvaluationRecord& record);

 private:
  const std::shared_ptr<file_system> files_;
  const std::string path_;
  const bool keeps_;
  std::mutex mutex_;  // guards file_
  std::unique_ptr<writable_file> file_;
};

}  // namespace troupe
