// The rules of style that a machine can check, over every source file of the project.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct source {
  std::string path;  // from the root of the project
  std::vector<std::string> lines;

  bool below(const std::string& folder) const { return path.rfind(folder + "/", 0) == 0; }
  bool header() const { return path.size() > 4 && path.compare(path.size() - 4, 4, ".hpp") == 0; }
};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<source> all_sources() {
  const fs::path root = TROUPE_SOURCE_DIR;
  std::vector<source> sources;
  for (const char* folder :
       {"core", "messages", "actors", "apps", "config", "sim", "tests", "bench"}) {
    if (!fs::is_directory(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      const bool code = extension == ".hpp" || extension == ".cpp";
      if (entry.is_regular_file() && code)
        sources.push_back({fs::relative(entry.path(), root).string(), lines_of(entry.path())});
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return sources;
}

const std::vector<source>& sources() {
  static const auto all = all_sources();
  return all;
}

// A line without its comment; a "//" inside a string cuts it short, which costs the check nothing
// but the rest.
std::string code_of(const std::string& line) {
  return line.substr(0, line.find("//"));
}

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether `code` holds `words` whole: "rand(" is not found in "operand(". A leading underscore
// stands for any beginning.
bool mentions(const std::string& code, const std::string& words) {
  for (auto at = code.find(words); at != std::string::npos; at = code.find(words, at + 1)) {
    const auto end = at + words.size();
    const bool begins =
        at == 0 || words[0] == '_' || !is_name_letter(words[0]) || !is_name_letter(code[at - 1]);
    const bool ends =
        end == code.size() || !is_name_letter(words.back()) || !is_name_letter(code[end]);
    if (begins && ends) return true;
  }
  return false;
}

// "path:line: text" for every line of code in the chosen files that mentions one of the words.
template <class Choose>
std::string mentions_in(Choose choose, const std::vector<std::string>& words) {
  std::ostringstream found;
  for (const auto& file : sources()) {
    if (!choose(file) || file.path == "tests/unit/style_test.cpp") continue;  // names them all
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (const auto& word : words)
        if (mentions(code_of(file.lines[i]), word))
          found << file.path << ":" << i + 1 << ": " << file.lines[i] << "\n";
  }
  return found.str();
}

std::vector<std::string> includes_of(const std::vector<std::string>& folders) {
  std::vector<std::string> lines;
  for (const auto& folder : folders) lines.push_back("#include \"" + folder + "/");
  return lines;
}

bool project_code(const source& file) {
  return !file.below("tests") && !file.below("bench");
}

// Where CAF may be seen: what travels, the actor shells, the links, the simulator and the
// executable.
bool may_include_caf(const source& file) {
  const bool shell = file.below("actors") && file.path.find("_actor.") != std::string::npos;
  const bool supervision = file.below("actors/supervision");
  return shell || supervision || file.below("actors/links") || file.below("messages") ||
         file.below("sim") || file.below("apps") || file.below("tests/cluster") ||
         file.below("bench");
}

}  // namespace

TEST_CASE("the style tests see the project") {
  CHECK(sources().size() > 50);
}

TEST_CASE("plain classes do not include CAF") {
  const auto plain = [](const source& f) { return !may_include_caf(f); };
  CHECK(mentions_in(plain, {"#include <caf/", "#include \"caf/"}) == "");
  CHECK(mentions_in([](const source& f) { return f.below("config") || f.below("core"); },
                    {"caf"}) == "");
}

TEST_CASE("arrows between folders go one way") {
  const struct {
    const char* folder;
    std::vector<std::string> may_not_include;
  } table[] = {
      {"core", {"messages", "actors", "apps", "config", "sim"}},
      {"config", {"messages", "actors", "apps", "sim"}},
      {"messages", {"actors", "apps", "config", "sim"}},
      {"actors", {"apps", "config", "sim"}},
  };
  for (const auto& row : table)
    CHECK(mentions_in([&](const source& f) { return f.below(row.folder); },
                      includes_of(row.may_not_include)) == "");
}

TEST_CASE("every header begins with #pragma once") {
  for (const auto& file : sources())
    if (file.header())
      CHECK_MESSAGE((!file.lines.empty() && file.lines[0] == "#pragma once"), file.path);
}

TEST_CASE("no file has grown beyond 450 lines") {
  for (const auto& file : sources()) CHECK_MESSAGE(file.lines.size() <= 450, file.path);
}

TEST_CASE("randomness is seeded and its algorithms are ours") {
  CHECK(mentions_in(project_code, {"_distribution<", "_distribution(", "random_device", "mt19937",
                                   "mt19937_64", "minstd_rand", "default_random_engine",
                                   "std::shuffle", "rand()", "srand("}) == "");
}

TEST_CASE("time is an argument: the logic of actors reads no clock, and nothing sleeps") {
  const std::vector<std::string> sleeping = {"sleep_for", "sleep_until", "usleep(", "sleep("};
  const auto logic = [](const source& f) { return f.below("actors") || f.below("messages"); };
  CHECK(mentions_in(logic, {"system_clock", "steady_clock", "high_resolution_clock"}) == "");
  CHECK(mentions_in(logic, sleeping) == "");
  CHECK(mentions_in([](const source& f) { return f.below("tests"); }, sleeping) == "");
}

TEST_CASE("no actor blocks or detaches") {
  CHECK(mentions_in([](const source& f) { return f.below("actors"); },
                    {"scoped_actor", "blocking_actor", "caf::detached", "receive_while"}) == "");
}

TEST_CASE("training takes its transcendental functions from core/math.hpp") {
  std::vector<std::string> calls;
  for (const char* name :
       {"exp", "exp2", "expm1", "log", "log2", "log1p", "log10", "pow", "tanh", "fma"})
    calls.push_back(std::string("std::") + name + "(");
  CHECK(mentions_in([](const source& f) { return f.below("actors") || f.below("apps/linear"); },
                    calls) == "");
}

TEST_CASE("only the executable and its commands write to the standard streams") {
  CHECK(mentions_in([](const source& f) { return project_code(f) && !f.below("apps"); },
                    {"#include <iostream>", "std::cout", "std::cerr", "std::clog", "printf("}) ==
        "");
}

TEST_CASE("files are reached through the seam") {
  CHECK(mentions_in([](const source& f) { return project_code(f) && !f.below("core"); },
                    {"#include <fstream>", "fopen(", "filesystem::exists("}) == "");
}

TEST_CASE("no file knows a machine it was written on") {
  CHECK(mentions_in([](const source&) { return true; }, {"/home/", "/root/", "/Users/"}) == "");
}

TEST_CASE("names say what a thing is") {
  const std::vector<std::string> empty_words = {"manager", "helper", "helpers", "util",
                                                "utils",   "common", "misc"};
  for (const auto& file : sources())
    for (const auto& word : empty_words) CHECK_MESSAGE(!mentions(file.path, word), file.path);
}
