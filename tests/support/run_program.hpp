#pragma once
// Runs a program as its user would: words, environment, current folder, a deadline; and what came
// of it.
//
//   const auto end = testing::run_program({"/bin/ls", "-l"}, {folder.path()});
//   CHECK(end.exit_code == 0);
//   CHECK(end.out == "total 0\n");
//
// Nothing here sleeps: it waits for output, or for the end, until the deadline, at which the
// program is killed and `timed_out` is set.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::testing {

struct program_place {
  std::string folder = ".";                        // the current folder
  std::map<std::string, std::string> environment;  // on top of the test's own; empty values: unset
  std::chrono::seconds deadline{60};
  std::string input = "/dev/null";  // the file that is standard input
};

struct program_end {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out, err;
};

class running_program {
 public:
  running_program(const std::vector<std::string>& words, const program_place& place)
      : deadline_(std::chrono::steady_clock::now() + place.deadline) {
    std::array<std::array<int, 2>, streams> pipes;
    for (auto& pipe : pipes) REQUIRE(pipe2(pipe.data(), O_CLOEXEC) == 0);
    auto environment = environment_of(place);
    auto arguments = pointers_to(words);
    auto variables = pointers_to(environment);
    pid_ = fork();
    if (pid_ == 0) {
      // Only what is safe after fork(): no allocation, no locks.
      const int nothing = open(place.input.c_str(), O_RDONLY);
      const bool ready = dup2(nothing, 0) >= 0 && dup2(pipes[out][1], 1) >= 0 &&
                         dup2(pipes[err][1], 2) >= 0 && fcntl(pipes[life][1], F_SETFD, 0) == 0 &&
                         chdir(place.folder.c_str()) == 0;
      if (ready) execve(arguments[0], arguments.data(), variables.data());
      _exit(127);
    }
    for (std::size_t i = 0; i < streams; ++i) {
      close(pipes[i][1]);
      streams_[i] = {pipes[i][0], POLLIN, 0};
      fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
    }
    REQUIRE(pid_ > 0);
  }
  ~running_program() { wait(); }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;

  // Whether `text` came on standard output; false once the program has ended without it.
  bool wait_for_output(std::string_view text) {
    while (end_.out.find(text) == std::string::npos)
      if (!hear()) return false;
    return true;
  }
  void send_signal(int number) {
    if (pid_ > 0) kill(pid_, number);
  }
  const program_end& wait() {
    while (hear()) continue;
    if (pid_ > 0) {
      int status = 0;
      while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
      if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
      pid_ = 0;
    }
    return end_;
  }

 private:
  // `life` carries nothing: its end says that the program is gone.
  enum stream : std::size_t { out, err, life, streams };

  static std::vector<std::string> environment_of(const program_place& place) {
    std::vector<std::string> all;
    for (char** variable = environ; *variable; ++variable) {
      const std::string text = *variable;
      if (place.environment.count(text.substr(0, text.find('='))) == 0) all.push_back(text);
    }
    for (const auto& [name, value] : place.environment)
      if (!value.empty()) all.push_back(name + "=" + value);
    return all;
  }
  static std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  // Waits for something to happen and takes it in; false when nothing more will.
  bool hear() {
    if (streams_[life].fd < 0) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0 && !end_.timed_out) {
      end_.timed_out = true;
      send_signal(SIGKILL);
    }
    // Whoever was killed is gone at once; -1 waits for that.
    const int patience = end_.timed_out ? -1 : static_cast<int>(left.count()) + 1;
    if (poll(streams_.data(), streams_.size(), patience) <= 0) return true;
    for (std::size_t i = 0; i < streams; ++i) take(i);
    return true;
  }
  void take(std::size_t i) {
    if (streams_[i].fd < 0 || streams_[i].revents == 0) return;
    std::array<char, 65536> buffer;
    ssize_t count = 0;
    while ((count = read(streams_[i].fd, buffer.data(), buffer.size())) > 0)
      (i == out ? end_.out : end_.err).append(buffer.data(), static_cast<std::size_t>(count));
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    close(streams_[i].fd);
    streams_[i].fd = -1;
  }

  const std::chrono::steady_clock::time_point deadline_;
  pid_t pid_ = 0;
  std::array<pollfd, streams> streams_{};
  program_end end_;
};

inline program_end run_program(const std::vector<std::string>& words,
                               const program_place& place = {}) {
  return running_program(words, place).wait();
}

}  // namespace troupe::testing
