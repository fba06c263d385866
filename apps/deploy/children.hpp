#pragma once
// Node processes that 'troupe up' has started, all in one process group of their own, so that
// Ctrl-C reaches them through us alone. They are told to end when we die.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe {

struct ended_child {
  std::string name;
  bool by_signal = false;
  int code = 0;  // it ended with, or the signal that ended it
  pid_t pid = 0;
};

class children {
 public:
  children() = default;
  ~children();  // kills those that still run
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  struct order {
    std::string name;
    std::vector<std::string> words;  // words[0] is the program, found by PATH if it has no slash
    std::string output_file;         // appended to; empty: our own standard output
    std::string error_file;          // the same of standard error
    bool keeps_input_open = false;   // its input ends when we do
  };
  result<void> start(const order& what);

  std::vector<ended_child> reap();  // never waits
  bool runs(const std::string& name) const { return pids_.count(name) > 0; }
  pid_t pid_of(const std::string& name) const;
  bool empty() const { return pids_.empty(); }
  std::size_t size() const { return pids_.size(); }
  void signal_all(int number);

 private:
  std::map<std::string, pid_t> pids_;
  std::map<std::string, int> inputs_;  // our ends of their inputs
  pid_t group_ = 0;
};

}  // namespace troupe
