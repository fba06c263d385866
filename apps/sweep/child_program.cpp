#include "apps/sweep/child_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace troupe {

result<child_program> child_program::start(const std::vector<std::string>& words,
                                           const std::string& output_file) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  // A process group of its own: Ctrl-C reaches it through us alone, once.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return error{errc::io,
                 words[0] + " could not be started: " + std::generic_category().message(failed)};
  return child_program(pid);
}

child_program::~child_program() {
  if (pid_ == 0) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool child_program::ended() {
  if (pid_ == 0) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
  return true;
}

void child_program::interrupt() {
  if (pid_ > 0) ::kill(pid_, SIGINT);
}

void child_program::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

}  // namespace troupe
