#pragma once
// All that is wrong with a job file, each finding with its place, told at once.

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe::config {

// Where a value was written: in a file, or (line 0) in an override or nowhere in particular.
struct place {
  std::string source;  // "job.toml", "--set a.b=c", or empty
  std::size_t line = 0;
  std::size_t column = 0;
};

std::string to_string(const place& where);

class findings {
 public:
  void add(place where, std::string key, std::string text);
  // An override replaced this key or section: what was wrong with it no longer matters.
  void forget(const std::string& key);
  bool concern(const std::string& key) const;  // whether something is wrong with just this key
  bool empty() const { return all_.empty(); }
  // One line a finding, "job.toml:12:3: training.minibatch: ...", in the order of the file.
  error as_error() const;

 private:
  struct finding {
    place where;
    std::string key;
    std::string text;
  };
  std::vector<finding> all_;
};

}  // namespace troupe::config
