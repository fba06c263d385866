// The rules of style that a machine can check, over every source file of the project.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
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
      if (entry.is_regular_file() && (extension == ".hpp" || extension == ".cpp"))
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

// "path:line: what" for every line of code in the chosen files that matches.
template <class Choose>
std::string lines_that_match(Choose choose, const char* pattern) {
  const std::regex wanted(pattern, std::regex::optimize);
  std::ostringstream found;
  for (const auto& file : sources()) {
    if (!choose(file)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(code_of(file.lines[i]), wanted))
        found << file.path << ":" << i + 1 << ": " << file.lines[i] << "\n";
  }
  return found.str();
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
  CHECK(lines_that_match([](const source& f) { return !may_include_caf(f); },
                         R"(^\s*#\s*include\s*[<"]caf/)") == "");
  // Nor in what a learning program or the configuration is made of.
  CHECK(lines_that_match([](const source& f) { return f.below("config") || f.below("core"); },
                         R"(\bcaf::)") == "");
}

TEST_CASE("arrows between folders go one way") {
  const struct {
    const char* folder;
    const char* may_not_include;
  } table[] = {
      {"core", R"(#include "(messages|actors|apps|config|sim)/)"},
      {"config", R"(#include "(messages|actors|apps|sim)/)"},
      {"messages", R"(#include "(actors|apps|config|sim)/)"},
      {"actors", R"(#include "(apps|config|sim)/)"},
  };
  for (const auto& [folder, pattern] : table) {
    const std::string name = folder;
    CHECK(lines_that_match([&](const source& f) { return f.below(name); }, pattern) == "");
  }
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
  CHECK(lines_that_match(
            project_code,
            R"(\bstd::(\w+_distribution|random_device|mt19937|minstd_rand|default_random_engine|)"
            R"(random_shuffle|shuffle)\b|\bs?rand\(\))") == "");
}

TEST_CASE("time is an argument: the logic of actors reads no clock and sleeps never") {
  CHECK(
      lines_that_match(
          [](const source& f) { return f.below("actors") || f.below("messages"); },
          R"(system_clock|steady_clock|high_resolution_clock|sleep_for|sleep_until|\busleep\()") ==
      "");
  const auto other_tests = [](const source& f) {
    return f.below("tests") && f.path != "tests/unit/style_test.cpp";
  };
  CHECK(lines_that_match(other_tests, R"(sleep_for|sleep_until|\busleep\()") == "");
}

TEST_CASE("no actor blocks or detaches, and no handle travels by address") {
  CHECK(lines_that_match([](const source& f) { return f.below("actors"); },
                         R"(scoped_actor|blocking_actor|caf::detached|spawn<[^>]*detached)") == "");
}

TEST_CASE("training takes exp, log and pow from core/math.hpp") {
  CHECK(
      lines_that_match([](const source& f) { return f.below("actors") || f.below("apps/linear"); },
                       R"(\bstd::(exp|exp2|expm1|log|log2|log1p|log10|pow|tanh|fma)f?\()") == "");
}

TEST_CASE("only the executable and its commands write to the standard streams") {
  CHECK(lines_that_match([](const source& f) { return project_code(f) && !f.below("apps"); },
                         R"(#include <iostream>|\bstd::(cout|cerr|clog)\b|\bprintf\()") == "");
}

TEST_CASE("files are reached through the seam") {
  CHECK(lines_that_match([](const source& f) { return project_code(f) && !f.below("core"); },
                         R"(#include <(fstream|filesystem)>|\bstd::(ifstream|ofstream|fopen)\b)") ==
        "");
}

TEST_CASE("no file knows a machine it was written on") {
  // Spelt in two pieces, so that this file passes.
  for (const auto& file : sources())
    for (const auto& line : file.lines) {
      CHECK_MESSAGE(line.find("/wo"
                              "rk/") == std::string::npos,
                    file.path, ": ", line);
      CHECK_MESSAGE(line.find("/ro"
                              "ot/") == std::string::npos,
                    file.path, ": ", line);
    }
}

TEST_CASE("names say what a thing is") {
  const std::regex empty_words(
      "(^|[/_.])(manager|helper|helpers|util|utils|common|misc|data2)([/_.]|$)");
  for (const auto& file : sources())
    CHECK_MESSAGE(!std::regex_search(file.path, empty_words), file.path);
}
