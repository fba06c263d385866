#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "apps/evaluation/ranking.hpp"

using namespace troupe;

namespace {

struct ranked_row {
  double score = 0, weight = 0;
  bool positive = false;
};

ranking ranking_of(const std::vector<ranked_row>& rows) {
  ranking order;
  for (const auto& r : rows) order.add(r.score, r.positive, r.weight);
  return order;
}
std::optional<double> auc_of(const std::vector<ranked_row>& rows) {
  return ranking_of(rows).area_under_roc();
}

}  // namespace

TEST_CASE("areas worked by hand") {
  constexpr bool yes = true, no = false;
  struct {
    std::vector<ranked_row> rows;
    double area;
  } const table[] = {
      {{{1, 1, yes}, {0, 1, no}}, 1},
      {{{0, 1, yes}, {1, 1, no}}, 0},
      {{{3, 1, yes}, {3, 1, no}}, 0.5},
      // Pairs: 4 of 6 right, none tied.
      {{{5, 1, yes}, {4, 1, no}, {3, 1, yes}, {2, 1, no}, {1, 1, yes}, {0, 1, no}}, 6.0 / 9},
      // Positives 2, 1; negatives 2, 0: (2,2) tied, (2,0) right, (1,2) wrong, (1,0) right.
      {{{2, 1, yes}, {2, 1, no}, {1, 1, yes}, {0, 1, no}}, 2.5 / 4},
      // All scores alike.
      {{{7, 1, yes}, {7, 1, yes}, {7, 1, no}, {7, 1, no}, {7, 1, no}}, 0.5},
      // Weights: pairs (3 x 1) right, (3 x 2) tied, (1 x 1) right, (1 x 2) wrong, of 4 x 3.
      {{{2, 3, yes}, {0, 1, no}, {2, 2, no}, {1, 1, yes}}, (3 + 3 + 1) / 12.0},
      // A row without weight counts for nothing.
      {{{1, 1, yes}, {0, 1, no}, {9, 0, no}}, 1},
      // -0 and 0 are the same score.
      {{{-0.0, 1, yes}, {0.0, 1, no}}, 0.5},
      {{{std::numeric_limits<double>::infinity(), 1, yes}, {0, 1, no}}, 1},
  };
  for (const auto& row : table) CHECK(auc_of(row.rows).value() == doctest::Approx(row.area));
}

TEST_CASE("one class, no rows, or a score that is no number have no area") {
  CHECK_FALSE(auc_of({}).has_value());
  CHECK_FALSE(auc_of({{1, 1, true}, {2, 1, true}}).has_value());
  CHECK_FALSE(auc_of({{1, 1, false}}).has_value());
  CHECK_FALSE(auc_of({{1, 1, true}, {0, 0, false}}).has_value());
  CHECK_FALSE(
      auc_of({{std::numeric_limits<double>::quiet_NaN(), 1, true}, {0, 1, false}}).has_value());
}

TEST_CASE("the area is what counting all pairs gives, in any order of the rows") {
  CHECK(rc::check("auc", [] {
    const auto count = *rc::gen::inRange<std::size_t>(2, 60);
    std::vector<ranked_row> rows;
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back({*rc::gen::inRange(-6, 6) / 2.0, *rc::gen::inRange(0, 5) / 4.0,
                      *rc::gen::arbitrary<bool>()});
    double right = 0, all = 0;
    for (const auto& p : rows)
      for (const auto& n : rows) {
        if (!p.positive || n.positive) continue;
        all += p.weight * n.weight;
        right += p.weight * n.weight * (p.score > n.score ? 1 : p.score == n.score ? 0.5 : 0);
      }
    const auto area = auc_of(rows);
    RC_ASSERT(area.has_value() == (all > 0));
    if (!area) return;
    RC_ASSERT(std::abs(*area - right / all) < 1e-12);
    std::reverse(rows.begin(), rows.end());
    RC_ASSERT(auc_of(rows) == area);
  }));
}

TEST_CASE("average precision worked by hand, ties together") {
  constexpr bool yes = true, no = false;
  struct {
    std::vector<ranked_row> rows;
    double area;
  } const table[] = {
      {{{1, 1, yes}, {0, 1, no}}, 1},
      {{{0, 1, yes}, {1, 1, no}}, 0.5},
      // Recall 1/3 at precision 1, 2/3 at 2/3, 1 at 3/5.
      {{{5, 1, yes}, {4, 1, no}, {3, 1, yes}, {2, 1, no}, {1, 1, yes}, {0, 1, no}},
       (1 + 2.0 / 3 + 3.0 / 5) / 3},
      // One threshold: all recall at the share of positives.
      {{{7, 1, yes}, {7, 1, no}, {7, 1, no}, {7, 1, no}}, 0.25},
      // Recall 3/4 at precision 3/5, the rest at 4/7 (weights 3, 2 tied; then 1 and 1 apart).
      {{{2, 3, yes}, {2, 2, no}, {1, 1, no}, {0, 1, yes}}, 0.75 * 3 / 5 + 0.25 * 4 / 7},
  };
  for (const auto& row : table)
    CHECK(ranking_of(row.rows).average_precision().value() == doctest::Approx(row.area));
  CHECK_FALSE(ranking_of({{1, 1, yes}}).average_precision().has_value());
}
