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
      {"sim", {"apps", "config"}},
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

// What runs in virtual time too: the actors, what they say, what they compute, and the simulator.
// Of the links only the proxies.
bool runs_in_virtual_time(const source& f) {
  if (f.below("actors/links")) return f.path.find("proxy_actor") != std::string::npos;
  return f.below("actors") || f.below("messages") || f.below("sim") || f.below("apps/linear") ||
         f.below("apps/virtual") || f.below("apps/evaluation");
}

TEST_CASE("time is an argument: what runs in virtual time reads no clock, and nothing sleeps") {
  const std::vector<std::string> sleeping = {"sleep_for", "sleep_until", "usleep(", "sleep("};
  CHECK(mentions_in(runs_in_virtual_time, {"system_clock", "steady_clock", "high_resolution_clock",
                                           "clock_gettime(", "gettimeofday(", "std::time("}) == "");
  CHECK(mentions_in(runs_in_virtual_time, sleeping) == "");
  CHECK(mentions_in([](const source& f) { return f.below("tests"); }, sleeping) == "");
}

TEST_CASE("no actor blocks, detaches or starts a thread") {
  CHECK(mentions_in(runs_in_virtual_time, {"scoped_actor", "blocking_actor", "caf::detached",
                                           "detached>", "receive_while", "receive_for",
                                           "std::thread", "std::async", "condition_variable"}) ==
        "");
}

namespace {

// "name_" of "std::unordered_map<key, value> name_;", else empty.
std::string unordered_name(const std::string& code) {
  if (code.find("std::unordered_") == std::string::npos || code.back() != ';') return {};
  const auto end = code.find_last_not_of("; ") + 1;
  auto begin = end;
  while (begin > 0 && is_name_letter(code[begin - 1])) --begin;
  return code[begin - 1] == ' ' ? code.substr(begin, end - begin) : std::string();
}

// Whether a container's order, or its hash, is that of addresses in memory.
bool keyed_by_address(const std::string& code) {
  for (const char* kind : {"map<", "set<", "hash<"})
    for (auto at = code.find(kind); at != std::string::npos; at = code.find(kind, at + 1)) {
      const auto key = code.substr(at + std::string(kind).size());
      const auto end = key.find_first_of(",>(");
      const auto name = key.substr(0, end);
      if (name.find('*') != std::string::npos || name.find("actor_ptr") != std::string::npos ||
          (name.find("caf::actor") == 0 && name != "caf::actor_id") ||
          name.find("shared_ptr") != std::string::npos ||
          name.find("unique_ptr") != std::string::npos)
        return true;
    }
  return code.find("%p") != std::string::npos;
}

}  // namespace

TEST_CASE("the scan for addresses as keys finds them") {
  for (const char* code :
       {"std::map<node*, int> m_;", "std::set<const lane *> s;",
        "std::unordered_map<caf::actor, int> a;", "std::map<caf::strong_actor_ptr, int> b;",
        "std::hash<void*>()(p)", "printf(\"%p\", x);", "std::set<std::shared_ptr<row>> r;"})
    CHECK_MESSAGE(keyed_by_address(code), code);
  for (const char* code :
       {"std::map<caf::actor_id, node*> m_;", "std::map<int, std::unique_ptr<row>> r;", "a * b;"})
    CHECK_MESSAGE(!keyed_by_address(code), code);
  CHECK(unordered_name("  std::unordered_map<int, std::vector<int>> found_;") == "found_");
  CHECK(unordered_name("  std::map<int, int> found_;").empty());
}

TEST_CASE(
    "nothing that runs in virtual time walks a container in the order of addresses or hashes") {
  std::ostringstream found;
  for (const auto& file : sources()) {
    if (!runs_in_virtual_time(file)) continue;
    const auto folder = file.path.substr(0, file.path.rfind('/'));
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto code = code_of(file.lines[i]);
      if (keyed_by_address(code)) found << file.path << ":" << i + 1 << ": " << code << "\n";
      if (code.empty()) continue;
      const auto name = unordered_name(code);
      if (name.empty()) continue;
      for (const auto& other : sources())
        if (other.below(folder))
          for (const auto& line : other.lines)
            if (mentions(code_of(line), ": " + name + ")") ||
                mentions(code_of(line), name + ".begin()"))
              found << other.path << ": walks " << name << ": " << line << "\n";
    }
  }
  CHECK(found.str() == "");
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

// RC_ASSERT takes its expression apart with operators of its own, so "||" and "&&" evaluate both
// sides: a guard before an access would not guard. In parentheses of its own it does.
TEST_CASE("assertions of RapidCheck hold no guard") {
  std::ostringstream found;
  for (const auto& file : sources())
    for (const auto& line : file.lines) {
      const auto code = code_of(line);
      if (file.path != "tests/unit/style_test.cpp" &&
          code.find("RC_ASSERT(") != std::string::npos &&
          code.find("RC_ASSERT((") == std::string::npos &&
          (code.find("||") != std::string::npos || code.find("&&") != std::string::npos))
        found << file.path << ": " << line << "\n";
    }
  CHECK(found.str() == "");
}

TEST_CASE("names say what a thing is") {
  const std::vector<std::string> empty_words = {"manager", "helper", "helpers", "util",
                                                "utils",   "common", "misc"};
  for (const auto& file : sources())
    for (const auto& word : empty_words) CHECK_MESSAGE(!mentions(file.path, word), file.path);
}
