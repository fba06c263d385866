#pragma once
// What a node keeps on its own disk: that it runs, as which process, and in which life.

#include <cstdint>
#include <memory>
#include <string>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// STATE/NAME, with the files lock, pid, incarnation and log. Held until the process ends: the
// second process of a name on this machine is refused.
class state_folder {
 public:
  static result<std::unique_ptr<state_folder>> open(std::shared_ptr<file_system> files,
                                                    const std::string& state,
                                                    const std::string& name);
  ~state_folder();  // removes the pid
  // Larger than of any life before, also where the disk was lost: lives are numbered by the time
  // at which they began, in milliseconds.
  std::uint64_t incarnation() const { return incarnation_; }
  const std::string& path() const { return path_; }

 private:
  state_folder() = default;
  std::shared_ptr<file_system> files_;
  std::string path_;
  std::uint64_t incarnation_ = 0;
  int lock_ = -1;
};

}  // namespace troupe
