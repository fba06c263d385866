#pragma once
// The scheduler's log: its state, record after record, each whole and with a checksum, in files
// "scheduler-N.log" of a folder. What counts is the last record that is whole; a record that a
// crash cut short, or that is damaged, is passed over. The folder is locked while a log is open, so
// that two schedulers of one job cannot both write.
//
//   file      magic "TRPSLOG1", records
//   record    size (u32) and XXH3 (u64) of the state, the state (pb::SchedulerState)

#include <memory>
#include <optional>
#include <string>

#include "core/file.hpp"
#include "core/result.hpp"
#include "messages/durable.pb.h"

namespace troupe {

class state_log {
 public:
  // The last record of a log that nobody has open, if there is one.
  static result<std::optional<pb::SchedulerState>> peek(std::shared_ptr<file_system> files,
                                                        const std::string& folder);
  // Takes the lock, reads what there is, and begins a new file. `incarnation` of who opens it is
  // one more than that of whoever did before.
  static result<std::unique_ptr<state_log>> open(std::shared_ptr<file_system> files,
                                                 const std::string& folder);

  std::uint64_t incarnation() const { return incarnation_; }
  const std::optional<pb::SchedulerState>& before() const { return before_; }
  // Returns when it is on the disk. Older files go when they are no longer needed.
  result<void> append(const pb::SchedulerState& state);

 private:
  state_log(std::shared_ptr<file_system> files, std::string folder)
      : files_(std::move(files)), folder_(std::move(folder)) {}
  result<void> read_all();
  result<void> begin_file();
  std::string path_of(std::uint64_t number) const;

  const std::shared_ptr<file_system> files_;
  const std::string folder_;
  std::unique_ptr<file_lock> lock_;
  std::unique_ptr<writable_file> file_;
  std::vector<std::uint64_t> older_;  // numbers of files
  std::uint64_t number_ = 0, incarnation_ = 1, size_ = 0;
  std::optional<pb::SchedulerState> before_;
};

}  // namespace troupe
