#pragma once
// The results of a sweep as a table: one row a point, ranked by a figure, over all its seeds. Pure.

#include <optional>
#include <string>
#include <vector>

#include "apps/sweep/sweep_file.hpp"

namespace troupe {

// One run's results, as JSON, or why there are none.
struct sweep_outcome {
  std::size_t point = 0;
  std::optional<std::uint64_t> seed;
  std::string json;     // empty: it failed
  std::string failure;  // then: why
};

// A number of a result page: "virtual.target.seconds". Nothing where it is absent, null or no
// number.
std::optional<double> figure_of(const std::string& json, const std::string& path);

struct sweep_cell {
  std::size_t runs = 0;  // that have the figure
  double mean = 0, deviation = 0, least = 0, most = 0;
};

struct sweep_row {
  std::string name;
  std::vector<sweep_cell> cells;  // by column
  std::size_t runs = 0, failed = 0;
  std::size_t best_in = 0;  // seeds in which no other point was better
  std::string failure;      // of the first that failed
};

struct sweep_table {
  std::string rank_by;
  bool largest_first = false;
  std::vector<std::string> columns;  // the first is rank_by
  std::vector<sweep_row> rows;       // the best first; without the figure: last
};

// Where the file names no figure: test_auc, else test_logloss, else objective, whichever the runs
// have.
sweep_table tabulate(const sweep_settings& sweep, const std::vector<sweep_outcome>& outcomes);

std::string as_text(const sweep_table& table, bool seeds);
std::string as_markdown(const sweep_table& table, bool seeds);
std::string as_csv(const sweep_table& table);
std::string as_json(const sweep_table& table);

}  // namespace troupe
