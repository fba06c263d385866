#pragma once
// A program started in a process of its own, its output in a file.

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe {

class child_program {
 public:
  // words[0] is the program's path. Standard input is empty.
  static result<child_program> start(const std::vector<std::string>& words,
                                     const std::string& output_file);
  child_program(child_program&& other) noexcept : pid_(other.pid_), exit_code_(other.exit_code_) {
    other.pid_ = 0;
  }
  child_program& operator=(child_program&&) = delete;
  ~child_program();  // kills it, if it still runs

  // Whether it has ended; never waits.
  bool ended();
  int exit_code() const { return exit_code_; }  // once it has; 128 + the signal that ended it
  void interrupt();                             // asks it to end
  void kill();

 private:
  explicit child_program(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
  int exit_code_ = 0;
};

}  // namespace troupe
