// What runs a sweep file means, and how their results are ranked.
#include <doctest/doctest.h>

#include "apps/sweep/sweep_table.hpp"

namespace troupe {
namespace {

sweep_settings read(const std::string& text) {
  const auto sweep = read_sweep(text, "s.toml");
  INFO((sweep ? "" : sweep.failure().text));
  REQUIRE(sweep.ok());
  return *sweep;
}

}  // namespace

TEST_CASE("axes are multiplied out, the first changing slowest, for each named point") {
  const auto s = read(R"(
job = "j.toml"
[[points]]
name = "a"
set = ["x.y=1"]
[[points]]
name = "b"
[axes]
"training.staleness" = [0, "unbounded"]
"training.updater.rate" = [0.5, 1]
)");
  REQUIRE(s.points.size() == 8);
  CHECK(s.points[0].name == "a training.staleness=0 training.updater.rate=0.5");
  CHECK(s.points[1].name == "a training.staleness=0 training.updater.rate=1");
  CHECK(s.points[7].name == "b training.staleness=unbounded training.updater.rate=1");
  CHECK(s.points[3].set == std::vector<std::string>{"x.y=1", "training.staleness=\"unbounded\"",
                                                    "training.updater.rate=1"});
}

TEST_CASE("a sweep has a bound on its runs, and no two points of one name") {
  std::string values = "0";
  for (int i = 1; i < 150; ++i) values += "," + std::to_string(i);
  const auto many = read_sweep(
      "job=\"j\"\n[axes]\n\"a.b\"=[" + values + "]\n\"c.d\"=[" + values + "]\n", "s.toml");
  REQUIRE_FALSE(many.ok());
  CHECK(many.failure().text.find("more than 10000 points") != std::string::npos);
  const auto twice =
      read_sweep("job=\"j\"\n[[points]]\nname=\"a\"\n[[points]]\nname=\"a\"\n", "s.toml");
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.failure().text.find("two points are called 'a'") != std::string::npos);
}

TEST_CASE("a figure is found by its path, and what is no number is none") {
  const std::string json = R"({"a": 1.5, "b": {"c": {"d": 2}}, "e": null, "f": "3"})";
  CHECK(figure_of(json, "a") == 1.5);
  CHECK(figure_of(json, "b.c.d") == 2.0);
  for (const char* path : {"b", "b.c", "b.c.d.e", "e", "f", "g", ""})
    CHECK_FALSE(figure_of(json, path).has_value());
  CHECK_FALSE(figure_of("{", "a").has_value());
}

TEST_CASE("points are ranked by the mean over their seeds; who was best is counted by seed") {
  auto s = read("job = \"j\"\nseeds = [1, 2]\n[axes]\n\"k.v\" = [1, 2, 3]\n");
  const auto outcome = [](std::size_t point, std::uint64_t seed, double auc) {
    return sweep_outcome{point, seed,
                         "{\"test_auc\": " + std::to_string(auc) + ", \"objective\": 7}", ""};
  };
  const std::vector<sweep_outcome> all{outcome(0, 1, 0.6),       outcome(0, 2, 0.9),
                                       outcome(1, 1, 0.8),       outcome(1, 2, 0.8),
                                       {2, 1, "", "it crashed"}, {2, 2, "", "it crashed too"}};
  const auto t = tabulate(s, all);
  CHECK(t.rank_by == "test_auc");
  CHECK(t.largest_first);
  REQUIRE(t.rows.size() == 3);
  CHECK(t.rows[0].name == "k.v=2");
  CHECK(t.rows[0].cells[0].mean == doctest::Approx(0.8));
  CHECK(t.rows[0].best_in == 1);
  CHECK(t.rows[1].cells[0].mean == doctest::Approx(0.75));
  CHECK(t.rows[1].cells[0].deviation == doctest::Approx(0.2121320));
  CHECK(t.rows[1].best_in == 1);
  CHECK(t.rows[2].failed == 2);
  CHECK(t.rows[2].failure == "it crashed");
  CHECK(as_text(t, true).find("2, 2 failed: it crashed") != std::string::npos);
  CHECK(as_markdown(t, true).find("| * | k.v=2 | 0.8 +- 0 |") != std::string::npos);
  CHECK(as_csv(t).find("k.v=3,,,0,,,0,,,0,0,2,2") != std::string::npos);
  s.rank_by = "objective";
  CHECK_FALSE(tabulate(s, all).largest_first);
}

}  // namespace troupe
