#pragma once
// What all commands' options have in common: --help and --version, and errors that say how to go
// on.

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe {

class command_line {
 public:
  // `usage` is what follows "troupe ": "sim JOB [options]"; `about` a sentence or two.
  command_line(std::string usage, std::string about);

  // Named options; positional words are collected under `word` if `most` > 0.
  boost::program_options::options_description& options() { return options_; }
  void positional(const char* word, int most);

  // Fills `values`. An exit code means that the command is over: help or version were printed, or
  // the words were wrong.
  std::optional<int> parse(const std::vector<std::string>& arguments,
                           boost::program_options::variables_map& values);

 private:
  const std::string usage_, about_;
  boost::program_options::options_description options_;
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positions_;
};

}  // namespace troupe
