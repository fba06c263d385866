#include "core/text.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("the edit distance counts insertions, deletions, changes and swaps of neighbours once") {
  struct row {
    const char *a, *b;
    std::size_t distance;
  };
  for (const auto& [a, b, distance] :
       {row{"", "", 0}, row{"", "abc", 3}, row{"adam", "adma", 1}, row{"ftrl", "ftlr", 1},
        row{"sgd", "sgd", 0}, row{"kitten", "sitting", 3}, row{"minibatch", "mini_batch", 1}}) {
    CHECK(edit_distance(a, b) == distance);
    CHECK(edit_distance(b, a) == distance);
  }
}

TEST_CASE("the nearest word is one that a typing error leads to, or none") {
  const std::vector<std::string> words{"sgd", "adam", "adagrad", "ftrl"};
  CHECK(nearest("adma", words) == "adam");
  CHECK(nearest("adagrat", words) == "adagrad");
  CHECK(nearest("banana", words).empty());
}

TEST_CASE("figures are written for people") {
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1234567) == "1.2 MB");
  CHECK(human_count(1234567) == "1,234,567");
  CHECK(human_count(999) == "999");
  CHECK(human_seconds(0.0123) == "12 ms");
  CHECK(human_seconds(125) == "2 min 5 s");
}
