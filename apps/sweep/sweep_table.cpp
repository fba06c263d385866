#include "apps/sweep/sweep_table.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/console/json.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

using google::protobuf::Value;

// What is better, for figures that people know.
bool larger_is_better(const std::string& figure) {
  for (const char* word : {"auc", "accuracy", "per_second"})
    if (figure.find(word) != std::string::npos) return true;
  return false;
}

const Value* member(const Value& of, const std::string& path) {
  const Value* at = &of;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto dot = std::min(path.find('.', begin), path.size());
    if (at->kind_case() != Value::kStructValue) return nullptr;
    const auto found = at->struct_value().fields().find(path.substr(begin, dot - begin));
    if (found == at->struct_value().fields().end()) return nullptr;
    at = &found->second;
    begin = dot + 1;
  }
  return at;
}

// A page is read once for all its figures.
std::optional<Value> parsed(const std::string& json) {
  Value page;
  if (json.empty() || !google::protobuf::util::JsonStringToMessage(json, &page).ok())
    return std::nullopt;
  return page;
}

std::optional<double> figure_of(const Value& page, const std::string& path) {
  const auto* found = member(page, path);
  if (found == nullptr || found->kind_case() != Value::kNumberValue) return std::nullopt;
  return found->number_value();
}

sweep_cell cell_of(const std::vector<double>& figures) {
  sweep_cell c;
  c.runs = figures.size();
  if (figures.empty()) return c;
  for (const double x : figures) c.mean += x;
  c.mean /= static_cast<double>(figures.size());
  for (const double x : figures) c.deviation += (x - c.mean) * (x - c.mean);
  c.deviation =
      figures.size() < 2 ? 0 : std::sqrt(c.deviation / static_cast<double>(figures.size() - 1));
  c.least = *std::min_element(figures.begin(), figures.end());
  c.most = *std::max_element(figures.begin(), figures.end());
  return c;
}

std::string shown(const sweep_cell& c) {
  if (c.runs == 0) return "-";
  auto text = format("%.5g", c.mean);
  if (c.runs > 1) text += format(" +- %.2g", c.deviation);
  return text;
}

using grid = std::vector<std::vector<std::string>>;

grid cells_of(const sweep_table& table, bool seeds) {
  grid g;
  auto& head = g.emplace_back();
  head = {"", "point"};
  head.insert(head.end(), table.columns.begin(), table.columns.end());
  if (seeds) head.emplace_back("best in");
  head.emplace_back("runs");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    auto& line = g.emplace_back();
    line = {i == 0 && row.cells[0].runs > 0 ? "*" : "", row.name};
    for (const auto& c : row.cells) line.push_back(shown(c));
    if (seeds) line.push_back(std::to_string(row.best_in));
    line.push_back(row.failed == 0
                       ? std::to_string(row.runs)
                       : format("%zu, %zu failed: ", row.runs, row.failed) + row.failure);
  }
  return g;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::optional<double> figure_of(const std::string& json, const std::string& path) {
  const auto page = parsed(json);
  return page ? figure_of(*page, path) : std::nullopt;
}

sweep_table tabulate(const sweep_settings& sweep, const std::vector<sweep_outcome>& outcomes) {
  std::vector<std::optional<Value>> pages;
  for (const auto& o : outcomes) pages.push_back(parsed(o.json));
  sweep_table t;
  t.rank_by = sweep.rank_by;
  for (const char* usual : {"test_auc", "test_logloss", "objective"})
    for (std::size_t i = 0; i < pages.size() && t.rank_by.empty(); ++i)
      if (pages[i] && figure_of(*pages[i], usual)) t.rank_by = usual;
  if (t.rank_by.empty()) t.rank_by = "objective";
  t.largest_first = sweep.largest_first.value_or(larger_is_better(t.rank_by));
  t.columns = {t.rank_by};
  auto more = sweep.columns;
  if (more.empty()) more = {"objective", "seconds"};
  for (const auto& c : more)
    if (std::find(t.columns.begin(), t.columns.end(), c) == t.columns.end()) t.columns.push_back(c);

  std::map<std::uint64_t, std::pair<double, std::vector<std::size_t>>> best;  // by seed
  for (std::size_t p = 0; p < sweep.points.size(); ++p) {
    auto& row = t.rows.emplace_back();
    row.name = sweep.points[p].name;
    std::vector<std::vector<double>> figures(t.columns.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].point != p) continue;
      ++row.runs;
      if (!pages[i]) {
        if (row.failed++ == 0) row.failure = outcomes[i].failure;
        continue;
      }
      for (std::size_t c = 0; c < t.columns.size(); ++c)
        if (const auto x = figure_of(*pages[i], t.columns[c])) figures[c].push_back(*x);
      if (const auto x = figure_of(*pages[i], t.rank_by)) {
        auto& [value, points] = best[outcomes[i].seed.value_or(0)];
        if (points.empty() || (t.largest_first ? *x > value : *x < value)) {
          value = *x;
          points = {p};
        } else if (*x == value) {
          points.push_back(p);
        }
      }
    }
    for (const auto& f : figures) row.cells.push_back(cell_of(f));
  }
  for (const auto& [seed, winner] : best)
    for (const auto p : winner.second) ++t.rows[p].best_in;
  std::stable_sort(t.rows.begin(), t.rows.end(), [&](const sweep_row& a, const sweep_row& b) {
    if ((a.cells[0].runs > 0) != (b.cells[0].runs > 0)) return a.cells[0].runs > 0;
    return t.largest_first ? a.cells[0].mean > b.cells[0].mean : a.cells[0].mean < b.cells[0].mean;
  });
  return t;
}

std::string as_text(const sweep_table& table, bool seeds) {
  const auto g = cells_of(table, seeds);
  std::vector<std::size_t> widths(g[0].size());
  for (const auto& line : g)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const auto& line : g) {
    std::string out;
    for (std::size_t c = 0; c < line.size(); ++c)
      out += (c == 0 ? "" : "  ") + line[c] + std::string(widths[c] - line[c].size(), ' ');
    text += out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string as_markdown(const sweep_table& table, bool seeds) {
  const auto g = cells_of(table, seeds);
  std::string text;
  for (std::size_t i = 0; i < g.size(); ++i) {
    text += "|";
    for (const auto& cell : g[i]) text += " " + cell + " |";
    text += "\n";
    if (i == 0) {
      text += "|";
      for (std::size_t c = 0; c < g[i].size(); ++c) text += c < 2 ? " --- |" : " ---: |";
      text += "\n";
    }
  }
  return text;
}

std::string as_csv(const sweep_table& table) {
  std::string text = "point";
  for (const auto& c : table.columns)
    text += "," + csv_field(c) + "," + csv_field(c + " deviation") + "," + csv_field(c + " runs");
  text += ",best_in,runs,failed\n";
  for (const auto& row : table.rows) {
    text += csv_field(row.name);
    for (const auto& c : row.cells)
      text += c.runs == 0 ? ",,,0" : format(",%.17g,%.17g,%zu", c.mean, c.deviation, c.runs);
    text += format(",%zu,%zu,%zu\n", row.best_in, row.runs, row.failed);
  }
  return text;
}

std::string as_json(const sweep_table& table) {
  using console::json;
  std::vector<json> rows;
  for (const auto& row : table.rows) {
    console::json_object o;
    o.add("point", json::of(row.name));
    console::json_object figures;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& cell = row.cells[c];
      console::json_object f;
      f.add("mean", cell.runs > 0 ? json::of(cell.mean) : json());
      f.add("deviation", cell.runs > 0 ? json::of(cell.deviation) : json());
      f.add("least", cell.runs > 0 ? json::of(cell.least) : json());
      f.add("most", cell.runs > 0 ? json::of(cell.most) : json());
      f.add("runs", json::of(std::uint64_t{cell.runs}));
      figures.add(table.columns[c], f.value());
    }
    o.add("figures", figures.value());
    o.add("best_in", json::of(std::uint64_t{row.best_in}));
    o.add("runs", json::of(std::uint64_t{row.runs}));
    o.add("failed", json::of(std::uint64_t{row.failed}));
    o.add("failure", row.failure.empty() ? json() : json::of(row.failure));
    rows.push_back(o.value());
  }
  console::json_object page;
  page.add("rank_by", json::of(table.rank_by));
  page.add("order", json::of(table.largest_first ? "largest" : "smallest"));
  page.add("rows", json::array(rows));
  return page.page();
}

}  // namespace troupe
