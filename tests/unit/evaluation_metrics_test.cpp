#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
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

TEST_CASE("entropy, calibration and average precision worked by hand") {
  metric_set set(logistic());
  // Probabilities 0.5, 0.5, 0.75, 0.25 (scores 0, 0, log 3, -log 3); labels +, -, +, -.
  add(set, "test", 0, {0, 1, 1, 0, -1, 1, std::log(3), 1, 1, -std::log(3), -1, 1});
  const auto all = set.figures({});
  const double loss = (2 * std::log(2) - 2 * std::log(0.75)) / 4;
  CHECK(value(all, "test_normalised_entropy") == doctest::Approx(loss / std::log(2)));
  CHECK(value(all, "test_calibration") == doctest::Approx(1));
  // Recall 1/2 at precision 1, then 1 at 2/3.
  CHECK(value(all, "test_pr_auc") == doctest::Approx(0.5 + 0.5 * 2 / 3));

  metric_set weighted(logistic());
  add(weighted, "test", 0, {0, 1, 1, 0, -1, 3});
  CHECK(value(weighted.figures({}), "test_calibration") == doctest::Approx(2));

  metric_set single(logistic());
  add(single, "test", 0, {0, 1, 1, 1, 1, 1});
  for (const auto* name : {"test_normalised_entropy", "test_pr_auc", "test_auc"})
    CHECK_FALSE(find(single.figures({}), name)->known());
  CHECK(find(single.figures({}), "test_calibration")->known());
}

TEST_CASE("the squared loss has the figures of regressions") {
  metric_settings settings;
  settings.loss = [](double score, double label) { return (score - label) * (score - label) / 2; };
  settings.regression = true;
  metric_set set(settings);
  add(set, "test", 0, {1, 2, 1, 4, 4, 2, 5, 6, 1});
  const auto all = set.figures({});
  CHECK(value(all, "test_rmse") == doctest::Approx(std::sqrt(0.5)));
  CHECK(value(all, "test_mae") == doctest::Approx(0.5));
  // Labels 2, 4, 4, 6: variance 2.
  CHECK(value(all, "test_r2") == doctest::Approx(1 - 0.5 / 2));
  metric_set flat(settings);
  add(flat, "test", 0, {1, 2, 1, 1, 2, 1});
  CHECK_FALSE(find(flat.figures({}), "test_r2")->known());
}

TEST_CASE("AUC by group is the mean over the groups that have both classes") {
  metric_set set(logistic());
  const auto bits = [](std::uint64_t group) {
    double number;
    std::memcpy(&number, &group, sizeof number);
    return number;
  };
  pb::EvaluatedPart part;
  part.set_data_set("test");
  part.set_columns(4);
  // Group 7: right (1). Group 8: wrong (0), three rows. Group 9 and no group: one class, and left
  // out.
  set.add(part, scores_of({2, 1, 1, bits(7), 1, -1, 1, bits(7),                            //
                           1, 1, 1, bits(8), 2, -1, 1, bits(8),        3, -1, 1, bits(8),  //
                           5, 1, 1, bits(9), 0, -1, 1, bits(no_group), 9, 1,  1, bits(no_group)}));
  CHECK(value(set.figures({}), "test_group_auc") == doctest::Approx((2 * 1.0 + 3 * 0.0) / 5));
}

TEST_CASE("a metric of somebody's own is reported under its name, where it is asked for") {
  metric_registry::global().add("mean_score", {[](const metric_input& of) {
                                                 double sum = 0, weight = 0;
                                                 of.rows.for_each([&](const auto& row) {
                                                   sum += row.weight * row.score;
                                                   weight += row.weight;
                                                 });
                                                 return metric_input::mean(sum, weight);
                                               },
                                               true});
  auto settings = logistic();
  settings.metrics = {"mean_score", "auc"};
  metric_set set(settings);
  add(set, "test", 0, {1, 1, 1, 4, -1, 2});
  const auto all = set.figures({});
  CHECK(all.size() == 2);
  CHECK(value(all, "test_mean_score") == doctest::Approx(3));
  CHECK(metric_registry::global().find("mean_scor").failure().text ==
        "the metric 'mean_scor' is not known; did you mean 'mean_score'?");
}

TEST_CASE("a set that is cleared knows nothing of what was measured before") {
  metric_set set(logistic());
  add(set, "train", 0, {1, 1, 1, 2, -1, 1});
  set.clear();
  CHECK(set.figures({}).empty());
}

TEST_CASE("sums alone make an objective, also where a part has no rows") {
  metric_set set(logistic());
  for (std::uint32_t part = 0; part < 3; ++part) {
    pb::EvaluatedPart sums;
    sums.set_data_set("train");
    sums.set_part(part);
    sums.set_rows(part);
    sums.set_loss(part);
    sums.set_weight(part);
    sums.set_columns(metric_set::columns_of_sums);
    set.add(sums, {});
  }
  const auto figures = set.figures({});
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].name() == "objective");
  CHECK(figures[0].value() == 3);
  CHECK(figures[1].name() == "train_logloss");
  CHECK(figures[1].value() == 1);
}
