#include <doctest/doctest.h>

#include <vector>

#include "apps/linear/label_map.hpp"

using namespace troupe;

namespace {

data_facts facts_of(const std::vector<double>& labels) {
  block rows;
  rows.label = labels;
  rows.row_begin.assign(labels.size() + 1, 0);
  data_facts facts;
  facts.add(rows);
  return facts;
}

}  // namespace

TEST_CASE("two labels become -1 and +1 for a loss that classifies") {
  struct {
    std::vector<double> labels;
    const char* positive;
    std::vector<double> mapped;
  } const table[] = {
      {{-1, 1}, "auto", {-1, 1}}, {{0, 1}, "auto", {-1, 1}},   {{1, 2}, "auto", {-1, 1}},
      {{1, 2}, "1", {1, -1}},     {{-1, 1}, "+1", {-1, 1}},    {{-1, 1}, "-1", {1, -1}},
      {{1}, "auto", {1}},         {{0}, "auto", {-1}},         {{-1}, "auto", {-1}},
      {{-1}, "-1", {1}},          {{-3, -2}, "auto", {-1, 1}}, {{2, 4.5}, "2.0", {1, -1}},
  };
  for (const auto& row : table)
    for (const auto loss : {loss_kind::logistic, loss_kind::squared_hinge}) {
      const auto map = label_map::make(loss, row.positive, facts_of(row.labels));
      REQUIRE(map.ok());
      for (std::size_t i = 0; i < row.labels.size(); ++i)
        CHECK((*map)(row.labels[i]) == row.mapped[i]);
      CHECK(map->classes()->negative == -1);
      CHECK(map->classes()->positive == 1);
    }
}

TEST_CASE("labels that are no two classes are named") {
  const auto text = [](const std::vector<double>& labels, const char* positive) {
    const auto map = label_map::make(loss_kind::logistic, positive, facts_of(labels));
    return map ? "fine" : map.failure().text;
  };
  CHECK(text({1, 2, 3}, "auto") ==
        "the logistic loss knows two classes, but the training rows have the labels 1, 2, 3");
  CHECK(text({0.5, 1, 2, 3, 4, 5, 6}, "1") ==
        "the logistic loss knows two classes, but the training rows have the labels 0.5, 1, 2, 3, "
        "4, ...");
  CHECK(text({-1, 1}, "2") ==
        "data.positive_label is 2, but the training rows have the labels -1, 1");
  CHECK(text({-1, 1}, "yes") ==
        "data.positive_label is yes, but the training rows have the labels -1, 1");
  std::vector<double> many;
  for (int i = 0; i < 100; ++i) many.push_back(i);
  CHECK(text(many, "auto") ==
        "the logistic loss knows two classes, but the training rows have the labels 0, 1, 2, 3, 4, "
        "...");
}

TEST_CASE("the squared loss takes labels as they are, and two of them as classes all the same") {
  const auto numbers = label_map::make(loss_kind::squared, "auto", facts_of({0.5, 1, 7}));
  REQUIRE(numbers.ok());
  CHECK((*numbers)(7) == 7);
  CHECK_FALSE(numbers->classes().has_value());
  CHECK(numbers->check(facts_of({99}), "data.test").ok());

  const auto two = label_map::make(loss_kind::squared, "auto", facts_of({0, 1}));
  REQUIRE(two.ok());
  CHECK((*two)(0) == 0);
  CHECK(two->classes()->negative == 0);
  CHECK(two->classes()->positive == 1);
}

TEST_CASE("a test set with a label that the training set lacks is refused by name") {
  const auto map = label_map::make(loss_kind::logistic, "auto", facts_of({-1, 1}));
  REQUIRE(map.ok());
  CHECK(map->check(facts_of({1}), "data.test").ok());
  CHECK(map->check(facts_of({0, 1}), "data.test").failure().text ==
        "data.test has the label 0, which no training row has");
}

TEST_CASE("both labels can be named, and then the data need not have both") {
  const auto of = [](const std::vector<double>& labels, const char* positive,
                     const char* negative) {
    return label_map::make(loss_kind::logistic, positive, facts_of(labels), negative);
  };
  const auto one = of({0}, "1", "0");
  REQUIRE(one.ok());
  CHECK((*one)(0) == -1);
  CHECK((*one)(1) == 1);
  CHECK(of({0, 1, 2}, "1", "0").failure().text ==
        "the training rows have the labels 0, 1, 2, and data.positive_label and "
        "data.negative_label are 1 and 0");
  // The other one is the positive.
  CHECK((*of({1, 2}, "auto", "2"))(1) == 1);
  CHECK((*of({1, 2}, "auto", "1"))(2) == 1);
  CHECK((*of({3}, "auto", "3"))(3) == -1);
  CHECK_FALSE(of({1, 2}, "auto", "5").ok());
}
