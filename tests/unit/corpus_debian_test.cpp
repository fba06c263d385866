#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "apps/corpus/debian_corpus.hpp"
#include "core/hash.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::apps;

namespace {

const char* const two_stanzas =
    "Package: zed\n"
    "Version: 1\n"
    "Depends: libc6 (>= 2.34), mta | mail-transport-agent,\n"
    " python3:any (>= 3.9~)\n"
    "Description: The Editor, e-mail & IRC v2\n"
    "Tag: interface::x11, works-with::text,\n"
    " role::program\n"
    "Section: editors\n"
    "\n"
    "Package: untagged\n"
    "Description: nothing to learn from\n"
    "\n"
    "Package: abc\n"
    "Description: data files\n"
    " of which the long description is none of our matter\n"
    "Tag: role::program-data\n";  // no final blank line, no final section

std::string stanza(int number, bool program) {
  return "Package: p" + std::to_string(10 + number) +
         "\nDescription: " + std::string(static_cast<std::size_t>(number), 'x') +
         "\nTag: " + (program ? "role::program" : "role::app-data") + "\nSection: games\n\n";
}

std::string read(const std::string& path) {
  auto text = read_text(*posix_file_system(), path, 1 << 20);
  REQUIRE(text);
  return *text;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("tagged packages come in name order with words, dependencies and section as features") {
  const auto packages = parse_package_index(two_stanzas);
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].name == "abc");
  CHECK_FALSE(packages[0].program);  // role::program-data is another tag
  CHECK(packages[0].features == std::vector<std::string>{"word:data", "word:files"});
  CHECK(packages[1].name == "zed");
  CHECK(packages[1].program);
  CHECK(packages[1].features ==
        std::vector<std::string>{"depends:libc6", "depends:mail-transport-agent", "depends:mta",
                                 "depends:python3:any", "section:editors", "word:e", "word:editor",
                                 "word:irc", "word:mail", "word:the", "word:v"});
}

TEST_CASE("a feature counts once however often it is named") {
  const auto packages = parse_package_index(
      "Package: a\nDepends: b (>= 1), b (<< 2), b | b\nDescription: tick tick Tick\nTag: "
      "role::program\n");
  REQUIRE(packages.size() == 1);
  CHECK(packages[0].features == std::vector<std::string>{"depends:b", "word:tick"});
}

TEST_CASE("of two stanzas for a package the first counts") {
  const auto packages = parse_package_index(
      "Package: a\nDescription: new\nTag: role::program\n\nPackage: a\nDescription: old\nTag: "
      "role::program\n");
  REQUIRE(packages.size() == 1);
  CHECK(packages[0].features == std::vector<std::string>{"word:new"});
}

TEST_CASE("odd input makes no packages and does no harm") {
  for (const char* text :
       {"", "\n\n\n", "no field here", " continuation first\n", "Tag: role::program\n\n",
        "Package: a\nTag:\n", "Package: a\nTag:  \n  \n", ":\n::\n"})
    CHECK(parse_package_index(text).empty());
}

TEST_CASE("whatever an index holds, packages come in order and features once") {
  CHECK(rc::check("of pieces of stanzas in any order", [] {
    const auto piece = rc::gen::element<std::string>(
        "Package: ", "Tag: ", "Depends:", "Description: ", "Section: ", "role::program", ",", "|",
        "(", " ", "\n", "\n\n", "a", "Z9", ":", "\xFF", "\t", "\r");
    std::string index;
    for (const auto& text : *rc::gen::container<std::vector<std::string>>(piece)) index += text;
    const auto packages = parse_package_index(index);
    for (std::size_t i = 0; i < packages.size(); ++i) {
      RC_ASSERT(!packages[i].name.empty());
      // Not with "||": RC_ASSERT takes the expression apart, and both sides are evaluated.
      if (i > 0) RC_ASSERT(packages[i - 1].name < packages[i].name);
      const auto& features = packages[i].features;
      RC_ASSERT(std::adjacent_find(features.begin(), features.end(), std::greater_equal<>()) ==
                features.end());
    }
  }));
}

TEST_CASE("every fifth row in name order is a test row, and the dictionary names every key") {
  testing::temporary_folder folder;
  std::string index;
  for (int i = 10; i > 0; --i) index += stanza(i, i % 2 == 0);
  auto files = posix_file_system();
  const auto facts = write_debian_corpus(*files, folder / "deep/corpus", index);
  REQUIRE(facts);
  CHECK(facts->train_rows == 8);
  CHECK(facts->test_rows == 2);
  CHECK(facts->programs == 5);
  CHECK(facts->train_features == 9);  // eight words and the section
  CHECK(facts->features == 11);

  const auto test = read(folder / "deep/corpus/test.svm");
  const auto names = read(folder / "deep/corpus/names.tsv");
  CHECK(lines(read(folder / "deep/corpus/train.svm")) == 8);
  CHECK(lines(test) == 2);
  CHECK(lines(names) == 11);
  CHECK(test.find(std::to_string(xxh64("word:xxxxx", 0)) + ":1") != std::string::npos);
  CHECK(test.find(std::to_string(xxh64("word:xxxx", 0)) + ":1") == std::string::npos);
  const auto section = std::to_string(xxh64("section:games", 0));
  CHECK(names.find(section + "\tsection:games\n") != std::string::npos);
  CHECK(test.find(" " + section + ":1") != std::string::npos);
  CHECK(test.substr(0, 3) == "-1 ");               // p15
  CHECK(test.find("\n+1 ") != std::string::npos);  // p20
}

TEST_CASE("the same index gives the same bytes") {
  testing::temporary_folder folder;
  std::string index;
  for (int i = 1; i < 12; ++i) index += stanza(i, i % 3 == 0);
  auto files = posix_file_system();
  REQUIRE(write_debian_corpus(*files, folder / "a", index));
  REQUIRE(write_debian_corpus(*files, folder / "b", index));
  for (const char* name : {"train.svm", "test.svm", "names.tsv"})
    CHECK(read(folder / (std::string("a/") + name)) == read(folder / (std::string("b/") + name)));
}

TEST_CASE("an index without tagged packages is refused with what to do") {
  testing::temporary_folder folder;
  auto files = posix_file_system();
  const auto facts = write_debian_corpus(*files, folder.path(), "Package: a\nDescription: b\n");
  REQUIRE_FALSE(facts);
  CHECK(facts.failure().code == errc::bad_data);
  CHECK(facts.failure().text.find("apt-get update") != std::string::npos);
}
