#include "apps/commands/command_line.hpp"

#include <iostream>

#include "apps/commands/command.hpp"
#include "messages/version.hpp"

namespace troupe {

namespace po = boost::program_options;

int exit_code_of(errc code) {
  switch (code) {
    case errc::bad_usage:
    case errc::bad_config:
    case errc::bad_data:
      return exit_bad_input;
    case errc::interrupted:
      return exit_interrupted;
    default:
      return exit_failed;
  }
}

error as_bad_input(error why) {
  if (why.code == errc::io || why.code == errc::damaged) why.code = errc::bad_data;
  return why;
}

int report(const error& why) {
  std::string text = why.text;
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.replace(at, 1, "\ntroupe: ");
  std::cerr << "troupe: " << text << '\n';
  return exit_code_of(why.code);
}

command_line::command_line(std::string usage, std::string about)
    : usage_(std::move(usage)), about_(std::move(about)), options_("Options") {
  options_.add_options()("help,h", "this text")("version", "the version");
}

void command_line::positional(const char* word, int most) {
  hidden_.add_options()(word, po::value<std::vector<std::string>>());
  positions_.add(word, most);
}

std::optional<int> command_line::parse(const std::vector<std::string>& arguments,
                                       po::variables_map& values) {
  po::options_description all;
  all.add(options_).add(hidden_);
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positions_).run(), values);
    if (values.count("help")) {
      std::cout << "usage: troupe " << usage_ << "\n\n" << about_ << "\n\n" << options_;
      return exit_done;
    }
    if (values.count("version")) {
      std::cout << "troupe " << build_version() << '\n';
      return exit_done;
    }
    po::notify(values);
  } catch (const po::error& wrong) {
    std::cerr << "troupe: " << wrong.what() << "\nusage: troupe " << usage_ << "\n('troupe "
              << usage_.substr(0, usage_.find(' ')) << " --help' lists the options)\n";
    return exit_bad_input;
  }
  return std::nullopt;
}

}  // namespace troupe
