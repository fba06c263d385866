#include "apps/deploy/state_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace troupe {

result<std::unique_ptr<state_folder>> state_folder::open(std::shared_ptr<file_system> files,
                                                         const std::string& state,
                                                         const std::string& name) {
  std::unique_ptr<state_folder> made(new state_folder);
  made->files_ = std::move(files);
  made->path_ = state + "/" + name;
  auto& disk = *made->files_;
  if (auto done = disk.create_folders(made->path_); !done) return done.failure();
  const auto lock = made->path_ + "/lock";
  made->lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made->lock_ < 0) return error{errc::io, lock + ": " + std::strerror(errno)};
  const auto small = std::uint64_t{100};
  if (::flock(made->lock_, LOCK_EX | LOCK_NB) != 0) {
    const auto pid = read_text(disk, made->path_ + "/pid", small);
    return error{errc::bad_config,
                 "the node '" + name + "' runs already" +
                     (pid ? ", as process " + pid->substr(0, pid->find('\n')) : std::string()) +
                     " (" + made->path_ + " is locked)"};
  }
  std::uint64_t before = 0;
  if (const auto text = read_text(disk, made->path_ + "/incarnation", small))
    before = std::strtoull(text->c_str(), nullptr, 10);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  // A life may begin its actor anew, each time with the next number.
  made->incarnation_ = std::max(before + 1000, static_cast<std::uint64_t>(now));
  if (auto done = write_text_atomically(disk, made->path_ + "/incarnation",
                                        std::to_string(made->incarnation_) + "\n");
      !done)
    return done.failure();
  if (auto done =
          write_text_atomically(disk, made->path_ + "/pid", std::to_string(::getpid()) + "\n");
      !done)
    return done.failure();
  return made;
}

state_folder::~state_folder() {
  if (lock_ < 0) return;
  (void)files_->remove(path_ + "/pid");
  ::close(lock_);
}

}  // namespace troupe
