#include "apps/data_check/format_guess.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "actors/worker/data/input_stream.hpp"
#include "actors/worker/data/line_reader.hpp"
#include "actors/worker/data/number.hpp"
#include "actors/worker/data/row_stream.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::size_t most_lines = 1000;
constexpr std::uint64_t longest_line = std::uint64_t{64} << 20;

using words = std::vector<std::string>;

struct fit {
  std::size_t rows = 0, faults = 0;
  bool index_0 = false;
  bool likely() const { return rows > faults; }
};

fit try_format(const std::string& format, const words& lines) {
  format_options options;
  options.index_base = 0;
  options.labels_optional = true;
  auto pipeline = row_pipeline::make(format, options, {});
  fit f;
  if (!pipeline) return f;
  pipeline->begin_file();
  example row;
  for (const auto& line : lines) {
    row.clear();
    row_fault fault;
    const auto outcome = pipeline->read(line, row, fault);
    f.rows += outcome == row_outcome::row;
    f.faults += outcome == row_outcome::fault;
    for (const auto& one : row.features) f.index_0 |= one.key == 0;
  }
  return f;
}

words cut(const std::string& line, char separator) {
  words fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  for (auto& field : fields) {
    while (!field.empty() && field.front() == ' ') field.erase(0, 1);
    while (!field.empty() && field.back() == ' ') field.pop_back();
  }
  return fields;
}

bool is_number(const std::string& text) {
  double value = 0;
  return parse_exact(text, value) == number_fault::none;
}

struct csv_column {
  std::string name;
  bool numbers = true;
  std::set<std::string> values;  // up to three
  std::string role = "ignore";
};

// The separator that cuts nearly all lines into as many fields, the most of them.
char separator_of(const words& lines) {
  char best = 0;
  std::size_t most = 1;
  for (const char separator : {',', '\t', ';', '|'}) {
    const auto fields = cut(lines.front(), separator).size();
    const auto alike = std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return cut(line, separator).size() == fields;
    });
    if (fields > most && 10 * static_cast<std::size_t>(alike) >= 9 * lines.size()) {
      best = separator;
      most = fields;
    }
  }
  return best;
}

bool names_label(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static const words usual{"label", "target", "y", "class", "click", "clicked", "outcome"};
  return std::find(usual.begin(), usual.end(), name) != usual.end();
}

std::vector<csv_column> columns_of(const words& lines, char separator, bool header) {
  std::vector<csv_column> columns;
  const auto first = cut(lines.front(), separator);
  for (std::size_t i = 0; i < first.size(); ++i)
    columns.push_back({header ? first[i] : std::to_string(i + 1), true, {}, "ignore"});
  for (std::size_t n = header ? 1 : 0; n < lines.size(); ++n) {
    const auto fields = cut(lines[n], separator);
    for (std::size_t i = 0; i < std::min(fields.size(), columns.size()); ++i) {
      if (fields[i].empty()) continue;
      columns[i].numbers &= is_number(fields[i]);
      if (columns[i].values.size() < 3) columns[i].values.insert(fields[i]);
    }
  }
  for (auto& c : columns) c.role = c.numbers ? "number" : "category";
  auto label = std::find_if(columns.begin(), columns.end(),
                            [](const csv_column& c) { return names_label(c.name); });
  // Else the first, or the last, of the columns with two values.
  const auto two = [](const csv_column& c) { return c.values.size() == 2; };
  if (label == columns.end() && two(columns.front())) label = columns.begin();
  if (label == columns.end() && two(columns.back())) label = std::prev(columns.end());
  if (label != columns.end()) label->role = "label";
  return columns;
}

std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

result<format_guess> guess_csv(const words& lines, const std::string& name) {
  const char separator = separator_of(lines);
  if (separator == 0)
    return error{errc::bad_data, name + " looks like none of libsvm, libffm, criteo and csv"};
  const auto first = cut(lines.front(), separator);
  const bool header = std::none_of(first.begin(), first.end(), is_number);
  format_guess guess;
  guess.format = "csv";
  const std::string word = separator == '\t' ? "tab" : std::string(1, separator);
  guess.settings = {"data.format=csv", "data.csv.separator=" + toml_text(word),
                    std::string("data.csv.header=") + (header ? "true" : "false")};
  guess.toml = "[data]\nformat = \"csv\"\n\n[data.csv]\nseparator = " + toml_text(word) +
               "\nheader = " + (header ? "true" : "false") + "\n\n[data.csv.columns]\n";
  std::string words_section;
  for (const auto& c : columns_of(lines, separator, header)) {
    guess.settings.push_back("data.csv.columns." + toml_text(c.name) + "=" + c.role);
    guess.toml += toml_text(c.name) + " = \"" + c.role + "\"\n";
    if (c.role != "label" || c.numbers) continue;
    double number = 0;
    for (const auto& value : c.values) {
      guess.settings.push_back("data.csv.label_words." + toml_text(value) + "=" +
                               std::to_string(static_cast<int>(number)));
      words_section += toml_text(value) + format(" = %.0f\n", number++);
    }
  }
  if (!words_section.empty()) guess.toml += "\n[data.csv.label_words]\n" + words_section;
  return guess;
}

}  // namespace

result<format_guess> guess_format(const std::vector<std::string>& lines, const std::string& name) {
  if (lines.empty()) return error{errc::bad_data, name + " has no lines"};
  for (const auto* format : {"libffm", "libsvm", "criteo"}) {
    const auto f = try_format(format, lines);
    if (!f.likely()) continue;
    format_guess guess;
    guess.format = format;
    guess.settings = {std::string("data.format=") + format};
    guess.toml = std::string("[data]\nformat = \"") + format + "\"\n";
    if (guess.format != "criteo") {
      guess.settings.push_back(std::string("data.index_base=") + (f.index_0 ? "0" : "1"));
      guess.toml += std::string("index_base = ") + (f.index_0 ? "0" : "1") + "\n";
    }
    return guess;
  }
  return guess_csv(lines, name);
}

result<format_guess> guess_format(file_system& files, const std::string& path) {
  const auto source = raw_source::open(files, path, nullptr);
  if (!source) return source.failure();
  const auto input = open_input(**source);
  if (!input) return input.failure();
  line_reader reader(path, **input, longest_line);
  words lines;
  std::string_view line;
  while (lines.size() < most_lines) {
    const auto more = reader.next(line);
    if (!more) return more.failure();
    if (!*more) break;
    if (!line.empty() && line.front() != '#') lines.emplace_back(line);
  }
  return guess_format(lines, path);
}

}  // namespace troupe
