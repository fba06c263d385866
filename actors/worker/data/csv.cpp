#include "actors/worker/data/csv.hpp"

#include <algorithm>

#include "actors/worker/data/number.hpp"
#include "actors/worker/data/number_features.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

enum class role { label, weight, id, group, number, category, ignore };

const std::vector<std::string>& role_words() {
  static const std::vector<std::string> words{"label",  "weight",   "id",    "group",
                                              "number", "category", "ignore"};
  return words;
}

std::optional<role> role_of(const std::string& word) {
  const auto& words = role_words();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<role>(found - words.begin());
}

bool features(role r) {
  return r == role::number || r == role::category;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// One field of a line: where it stands, and what it says.
struct field_text {
  std::string_view text;
  std::size_t column = 1;
};

// Cuts lines into fields. What is unquoted is a view of the line, the rest one of `unquoted_`.
class line_cutter {
 public:
  explicit line_cutter(char separator) : separator_(separator) {}

  // False: a quote that does not end, or ends in the middle of a field.
  bool cut(std::string_view line, std::vector<field_text>& into, row_fault& fault) {
    into.clear();
    unquoted_.clear();
    unquoted_.reserve(line.size());  // views of it must stay
    std::size_t at = 0;
    for (;;) {
      auto begin = at;
      while (begin < line.size() && line[begin] == ' ') ++begin;
      if (begin < line.size() && line[begin] == '"') {
        if (!cut_quoted(line, begin, at, into, fault)) return false;
      } else {
        const auto end = std::min(line.find(separator_, at), line.size());
        into.push_back({trimmed(line.substr(at, end - at)), at + 1});
        at = end;
      }
      if (at == line.size()) return true;
      ++at;  // the separator
    }
  }

 private:
  bool cut_quoted(std::string_view line, std::size_t quote, std::size_t& at,
                  std::vector<field_text>& into, row_fault& fault) {
    const auto from = unquoted_.size();
    auto p = quote + 1;
    for (;; ++p) {
      if (p == line.size()) {
        fault = {quote + 1,
                 "a quote that does not end on its line; fields of several lines are "
                 "not read"};
        return false;
      }
      if (line[p] != '"') {
        unquoted_ += line[p];
      } else if (p + 1 < line.size() && line[p + 1] == '"') {
        unquoted_ += '"';
        ++p;
      } else {
        break;
      }
    }
    ++p;
    while (p < line.size() && line[p] == ' ' && separator_ != ' ') ++p;
    if (p < line.size() && line[p] != separator_) {
      fault = {p + 1, "text behind a closing quote; a quote within quotes is written twice"};
      return false;
    }
    into.push_back({std::string_view(unquoted_).substr(from), quote + 1});
    at = p;
    return true;
  }

  const char separator_;
  std::string unquoted_;
};

class csv_reader final : public row_reader {
 public:
  explicit csv_reader(const format_options& options)
      : options_(options), cutter_(options.csv.separator) {}

  void begin_file() override { columns_.clear(); }

  row_outcome read(std::string_view line, example& into, row_fault& fault) override {
    if (line.empty()) return row_outcome::nothing;
    if (!cutter_.cut(line, fields_, fault)) {
      fault.fatal = columns_.empty() && options_.csv.header;
      return row_outcome::fault;
    }
    if (columns_.empty()) {
      if (!read_header()) return end_with(fault);
      if (options_.csv.header) return row_outcome::nothing;
    }
    if (fields_.size() != columns_.size()) {
      const auto& last = fields_.back();
      note(fields_.size() > columns_.size() ? fields_[columns_.size()] : last,
           format("%zu fields, where %s has %zu", fields_.size(),
                  options_.csv.header ? "the header" : "the first row", columns_.size()));
      return end_with(fault);
    }
    into.labelled = false;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (columns_[i].what != role::ignore && !read_field(fields_[i], columns_[i], into))
        return end_with(fault);
    if (!into.labelled && !options_.labels_optional) {
      note(fields_.front(), "the label is missing");
      return end_with(fault);
    }
    return row_outcome::row;
  }

  std::optional<std::uint32_t> field_of(std::string_view name) const override {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
  }

 private:
  struct column {
    std::string name;
    role what = role::ignore;
    std::uint32_t field = 0;
    key_id key = 0;  // of a number
    std::optional<namespace_of_names> space;
  };

  row_outcome end_with(row_fault& fault) {
    fault = std::move(fault_);
    return row_outcome::fault;
  }
  bool note(const field_text& at, std::string reason, bool fatal = false) {
    fault_ = {at.column, std::move(reason), fatal};
    return false;
  }

  // From the names in `fields_`, or from their number.
  bool read_header() {
    std::vector<column> made;
    std::map<std::string, std::size_t, std::less<>> seen;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      column c;
      c.name = options_.csv.header ? std::string(fields_[i].text) : std::to_string(i + 1);
      if (!seen.emplace(c.name, i).second)
        return note(fields_[i], "two columns are called " + quoted(c.name), true);
      const auto own = options_.csv.columns.find(c.name);
      c.what = *role_of(own == options_.csv.columns.end() ? options_.csv.others : own->second);
      if (features(c.what) && !make_features(fields_[i], c)) return false;
      made.push_back(std::move(c));
    }
    for (const auto& [name, word] : options_.csv.columns)
      if (seen.count(name) == 0 &&
          !(options_.labels_optional && word != "number" && word != "category"))
        return note(fields_.front(),
                    "there is no column " + quoted(name) + ", which data.csv.columns names" +
                        meant(name, made),
                    true);
    const auto count = [&](role r) {
      return std::count_if(made.begin(), made.end(), [r](const column& c) { return c.what == r; });
    };
    if (count(role::label) == 0 && !options_.labels_optional)
      return note(fields_.front(), "no column is the label; see data.csv.columns", true);
    for (const auto r : {role::label, role::weight, role::id, role::group})
      if (count(r) > 1)
        return note(fields_.front(),
                    "two columns are the " + role_words()[static_cast<std::size_t>(r)], true);
    if (count(role::number) + count(role::category) == 0)
      return note(fields_.front(),
                  "no column is a number or a category; see data.csv.columns and data.csv.others",
                  true);
    columns_ = std::move(made);
    return true;
  }

  std::string meant(const std::string& name, const std::vector<column>& columns) const {
    std::vector<std::string> names;
    for (const auto& c : columns) names.push_back(c.name);
    const auto likely = nearest(name, names);
    return likely.empty() ? "" : "; did you mean " + quoted(likely) + "?";
  }

  // A namespace keeps its field number in all files.
  bool make_features(const field_text& at, column& c) {
    c.field = numbers_.emplace(c.name, static_cast<std::uint32_t>(numbers_.size())).first->second;
    c.space.emplace(c.name, options_.hashing, options_.names.get());
    if (c.what != role::number || options_.numbers == number_form::buckets) return true;
    std::uint64_t index = 0;
    if (parse_u64(c.name, index) != number_fault::none) {
      c.key = c.space->key_of({});
      return true;
    }
    if (index < options_.index_base)
      return note(at, "column 0 in data whose indices start at 1 (see index_base)", true);
    c.key = index - options_.index_base;
    return true;
  }

  bool missing(std::string_view text) const {
    const auto& words = options_.csv.missing;
    return text.empty() || std::find(words.begin(), words.end(), text) != words.end();
  }

  bool read_field(const field_text& f, const column& c, example& into) {
    if (missing(f.text)) return true;
    switch (c.what) {
      case role::label:
        into.labelled = true;
        return read_label(f, c, into);
      case role::weight:
        if (!read_number(f, c, into.weight)) return false;
        return into.weight >= 0 || note(f, what(c) + " " + quoted(f.text) + " is below 0");
      case role::id:
        into.id = std::string(f.text);
        return true;
      case role::group: {
        std::uint64_t group = 0;
        into.group = parse_u64(f.text, group) == number_fault::none
                         ? group
                         : xxh64(f.text, options_.hashing.seed);
        return true;
      }
      case role::number: {
        double number = 0;
        if (!read_number(f, c, number)) return false;
        return add_number(number, *c.space, c.key, c.field, options_.numbers, into) ||
               note(f, what(c) + " " + quoted(f.text) + " is too large for a 32-bit float");
      }
      case role::category:
        into.features.push_back({c.space->key_of(f.text), 1, c.field});
        return true;
      case role::ignore:
        return true;
    }
    return true;
  }

  bool read_label(const field_text& f, const column& c, example& into) {
    const auto word = options_.csv.label_words.find(std::string(f.text));
    if (word == options_.csv.label_words.end()) return read_number(f, c, into.label);
    into.label = word->second;
    return true;
  }

  bool read_number(const field_text& f, const column& c, double& number) {
    const auto fault = parse_exact(f.text, number);
    // A number is rounded to f32 in any case; labels and weights are to be exact.
    if (fault == number_fault::none || (fault == number_fault::inexact && c.what == role::number))
      return true;
    return note(f, what(c) + " " + quoted(f.text) + " " + reason_of(fault) +
                       (c.what == role::label && fault == number_fault::malformed
                            ? " and none of data.csv.label_words"
                            : ""));
  }

  static std::string what(const column& c) {
    return role_words()[static_cast<std::size_t>(c.what)] + " " + quoted(c.name) + ":";
  }

  const format_options options_;
  line_cutter cutter_;
  std::vector<column> columns_;  // empty: the file's first row is still to come
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // fields by column
  std::vector<field_text> fields_;
  row_fault fault_;
};

error bad(const std::string& text) {
  return {errc::bad_config, text};
}

}  // namespace

result<std::unique_ptr<row_reader>> make_csv_reader(const format_options& options) {
  const auto& csv = options.csv;
  if (options.index_base > 1)
    return bad("the index base is " + std::to_string(options.index_base) + "; it must be 0 or 1");
  if (csv.separator == '"' || csv.separator == ' ' || csv.separator == '\n' ||
      csv.separator == '\r' || csv.separator == '\0')
    return bad("data.csv.separator cannot be a quote, a blank or an end of line");
  const auto wrong = [](const std::string& key, const std::string& word) {
    const auto likely = nearest(word, role_words());
    return bad(key + ": '" + word + "' is no role of a column; " +
               (likely.empty() ? "there are label, weight, id, group, number, category and ignore"
                               : "did you mean '" + likely + "'?"));
  };
  for (const auto& [name, word] : csv.columns)
    if (!role_of(word)) return wrong("data.csv.columns." + name, word);
  const auto others = role_of(csv.others);
  if (!others || !(features(*others) || *others == role::ignore))
    return bad("data.csv.others is '" + csv.others + "'; it must be number, category or ignore");
  return std::unique_ptr<row_reader>(std::make_unique<csv_reader>(options));
}

}  // namespace troupe
