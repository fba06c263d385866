#include "apps/deploy/children.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace troupe {

children::~children() {
  signal_all(SIGKILL);
  for (const auto& [name, pid] : pids_)
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  for (const auto& [name, input] : inputs_) ::close(input);
}

result<void> children::start(const order& what) {
  std::vector<char*> words;
  for (const auto& word : what.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int input[2] = {-1, -1};
  if (what.keeps_input_open && ::pipe2(input, O_CLOEXEC) != 0)
    return error{errc::io, std::string("a pipe: ") + std::strerror(errno)};
  const pid_t parent = ::getpid();
  const pid_t group = pids_.empty() ? 0 : group_;
  const pid_t pid = ::fork();
  if (pid < 0) return error{errc::io, what.name + ": " + std::strerror(errno)};
  if (pid == 0) {
    // Between fork and exec only what is safe there.
    ::setpgid(0, group);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    const int in = what.keeps_input_open ? input[0] : ::open("/dev/null", O_RDONLY);
    ::dup2(in, 0);
    for (const auto* file : {&what.output_file, &what.error_file}) {
      if (file->empty()) continue;
      const int out = ::open(file->c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
      if (out >= 0) ::dup2(out, file == &what.output_file ? 1 : 2);
    }
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::setpgid(pid, group == 0 ? pid : group);  // whoever comes first
  if (group == 0) group_ = pid;
  pids_[what.name] = pid;
  if (what.keeps_input_open) {
    ::close(input[0]);
    inputs_[what.name] = input[1];
  }
  return {};
}

std::vector<ended_child> children::reap() {
  std::vector<ended_child> ended;
  for (auto i = pids_.begin(); i != pids_.end();) {
    int status = 0;
    if (::waitpid(i->second, &status, WNOHANG) != i->second) {
      ++i;
      continue;
    }
    const bool by_signal = !WIFEXITED(status);
    ended.push_back(
        {i->first, by_signal, by_signal ? WTERMSIG(status) : WEXITSTATUS(status), i->second});
    if (const auto input = inputs_.find(i->first); input != inputs_.end()) {
      ::close(input->second);
      inputs_.erase(input);
    }
    i = pids_.erase(i);
  }
  return ended;
}

pid_t children::pid_of(const std::string& name) const {
  const auto found = pids_.find(name);
  return found == pids_.end() ? 0 : found->second;
}

void children::signal_all(int number) {
  // Those at the other end of an ssh hear of it by the end of their input, and ssh ends with them.
  for (const auto& [name, pid] : pids_)
    if (number == SIGKILL || inputs_.count(name) == 0) ::kill(pid, number);
  if (number != SIGTERM && number != SIGKILL) return;
  for (const auto& [name, input] : inputs_) ::close(input);
  inputs_.clear();
}

}  // namespace troupe
