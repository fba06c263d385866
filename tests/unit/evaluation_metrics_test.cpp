#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/evaluation/metric_set.hpp"
#include "core/random.hpp"

using namespace troupe;

namespace {

blob scores_of(const std::vector<double>& numbers) {
  return blob::copy_of(span<const double>(numbers));
}

void add(metric_set& set, const std::string& name, std::uint32_t part,
         const std::vector<double>& numbers) {
  pb::EvaluatedPart header;
  header.set_data_set(name);
  header.set_part(part);
  set.add(header, scores_of(numbers));
}

metric_settings logistic() {
  metric_settings s;
  s.loss = [](double score, double label) { return std::log1p(std::exp(-score * label)); };
  s.log_loss = true;
  s.classes = two_classes{};
  return s;
}

const pb::Metric* find(const std::vector<pb::Metric>& all, const std::string& name) {
  for (const auto& m : all)
    if (m.name() == name) return &m;
  return nullptr;
}

double value(const std::vector<pb::Metric>& all, const std::string& name) {
  const auto* m = find(all, name);
  REQUIRE(m != nullptr);
  REQUIRE(m->known());
  return m->value();
}

std::vector<pb::TableSummary> tables() {
  std::vector<pb::TableSummary> all(2);
  all[0].set_l1(10);
  all[0].set_l2(30);
  all[1].set_table(1);
  all[1].set_l1(5);
  all[1].set_l2(25);
  return all;
}

}  // namespace

TEST_CASE("figures of a few rows worked by hand") {
  auto settings = logistic();
  settings.penalties = {{0.5, 2}, {0, 0}};
  metric_set set(settings);
  add(set, "train", 0, {0, 1, 2, 3, 1, 1});  // (score, label, weight) of two rows
  add(set, "train", 1, {1, -1, 1});
  add(set, "test", 0, {0.5, 1, 1, 0, -1, 1, -1, 1, 2});
  const auto all = set.figures(tables());

  const double loss = 2 * std::log(2) + std::log1p(std::exp(-3)) + std::log1p(std::exp(1));
  CHECK(value(all, "objective") == doctest::Approx(loss + 0.5 * 10 + 2.0 / 2 * 30));
  CHECK(value(all, "train_logloss") == doctest::Approx(loss / 4));
  CHECK(value(all, "train_accuracy") == doctest::Approx(1.0 / 4));  // 0 lies on the negative side
  CHECK(value(all, "test_accuracy") == doctest::Approx(2.0 / 4));
  CHECK(value(all, "test_auc") == doctest::Approx(1.0 / 3));
  CHECK(find(all, "test_loss") == nullptr);
  CHECK(all.front().name() == "objective");
}

TEST_CASE("what is not defined is not known") {
  metric_set set(logistic());
  add(set, "test", 0, {1, 1, 1, 2, 1, 1});
  add(set, "train", 0, {});
  const auto all = set.figures({});
  CHECK_FALSE(find(all, "test_auc")->known());
  CHECK(find(all, "test_logloss")->known());
  for (const auto* name : {"objective", "train_logloss", "train_accuracy", "train_auc"})
    CHECK_FALSE(find(all, name)->known());

  metric_set overflown(logistic());
  add(overflown, "test", 0, {std::numeric_limits<double>::quiet_NaN(), 1, 1, 2, -1, 1});
  CHECK_FALSE(find(overflown.figures({}), "test_logloss")->known());
  CHECK_FALSE(find(overflown.figures({}), "test_auc")->known());
}

TEST_CASE("a loss that is no log-loss has its own figure") {
  metric_settings settings;
  settings.loss = [](double score, double label) { return (score - label) * (score - label) / 2; };
  metric_set numbers(settings);
  add(numbers, "test", 0, {1, 3, 1, 5, 5, 1});
  const auto all = numbers.figures({});
  CHECK(value(all, "test_loss") == doctest::Approx(1));
  for (const auto* name : {"test_logloss", "test_accuracy", "test_auc"})
    CHECK_FALSE(find(all, name)->known());
  CHECK(find(all, "objective") == nullptr);  // no training rows were scored

  settings.classes = two_classes{0, 1};
  settings.threshold = 0.5;
  metric_set classes(settings);
  add(classes, "test", 0, {0.6, 1, 1, 0.4, 0, 1, 0.7, 0, 1});
  CHECK(value(classes.figures({}), "test_accuracy") == doctest::Approx(2.0 / 3));
  CHECK(value(classes.figures({}), "test_auc") == doctest::Approx(0.5));
}

TEST_CASE("figures have the same bits however the rows are cut, and in any order of arrival") {
  random_source random(7);
  std::vector<double> rows;
  for (int i = 0; i < 300; ++i) {
    rows.push_back(random.normal());
    rows.push_back(random.below(2) == 0 ? -1 : 1);
    rows.push_back(random.unit());
  }
  const auto figures = [&](std::size_t parts) {
    metric_set set(logistic());
    for (std::size_t p = parts; p-- > 0;) {
      const auto begin = 300 * p / parts * 3, end = 300 * (p + 1) / parts * 3;
      add(set, "train", static_cast<std::uint32_t>(p),
          {rows.begin() + static_cast<std::ptrdiff_t>(begin),
           rows.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    std::vector<double> values;
    for (const auto& m : set.figures({})) values.push_back(m.value());
    return values;
  };
  CHECK(figures(1) == figures(4));
  CHECK(figures(1) == figures(299));
}
