#include "actors/worker/data/criteo.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "actors/worker/data/number.hpp"
#include "actors/worker/data/number_features.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::size_t counts = 13, categories = 26;
constexpr std::size_t fields = counts + categories;

class criteo_reader final : public row_reader {
 public:
  explicit criteo_reader(const format_options& options) : options_(options) {
    for (std::size_t i = 0; i < fields; ++i) {
      const auto name = i < counts ? format("I%zu", i + 1) : format("C%zu", i - counts + 1);
      spaces_.emplace_back(name, options.hashing, options.names.get());
      number_keys_.push_back(i < counts && options.numbers != number_form::buckets
                                 ? spaces_.back().key_of({})
                                 : key_id{0});
    }
  }

  row_outcome read(std::string_view line, example& into, row_fault& fault) override {
    if (line.empty()) return row_outcome::nothing;
    line_ = line;
    begin_ = line.data();
    const auto marks = marks_of(line);
    const auto columns = 1 + marks.tabs;
    into.labelled = columns == fields + 1;
    bool fine = into.labelled || (options_.labels_optional && columns == fields);
    if (!fine)
      note(line, format("%zu column%s; a row of Criteo's has %zu, a label, %zu counts and %zu "
                        "categories, between tabs",
                        columns, columns == 1 ? "" : "s", fields + 1, counts, categories));
    if (fine && marks.odd) fine = explain_odd(line);
    if (fine && into.labelled) fine = read_label(next_column(), into);
    for (std::uint32_t field = 0; fine && field < fields; ++field) {
      const auto column = next_column();
      if (!column.empty())
        fine =
            field < counts ? read_count(column, field, into) : read_category(column, field, into);
    }
    if (fine) return row_outcome::row;
    fault = std::move(fault_);
    return row_outcome::fault;
  }

  std::optional<std::uint32_t> field_of(std::string_view name) const override {
    for (std::uint32_t i = 0; i < fields; ++i)
      if (spaces_[i].name() == name) return i;
    return std::nullopt;
  }

 private:
  // What is left of the line up to its next tab.
  std::string_view next_column() {
    const auto column = line_.substr(0, line_.find('\t'));
    line_.remove_prefix(std::min(column.size() + 1, line_.size()));
    return column;
  }

  bool read_label(std::string_view text, example& into) {
    const auto fault = parse_exact(text, into.label);
    if (fault == number_fault::none) return true;
    return note(text, text.empty() ? "the label is missing"
                                   : "label " + quoted(text) + " " + reason_of(fault));
  }

  bool read_count(std::string_view text, std::uint32_t field, example& into) {
    std::int64_t count = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (code == std::errc::result_out_of_range)
      return note(text, spaces_[field].name() + " " + quoted(text) + " is beyond 64 bits");
    if (code != std::errc() || end != text.data() + text.size())
      return note(text, spaces_[field].name() + " " + quoted(text) + " is not a whole number");
    // Most counts are small, and come again and again.
    const bool usual = options_.numbers == number_form::buckets && count >= 0 &&
                       count < usual_counts && options_.names == nullptr;
    if (usual) {
      auto& known = usual_[field * usual_counts + static_cast<std::size_t>(count)];
      if (!known.made) known = {bucket_of(count, field), true};
      into.features.push_back({known.key, 1, field});
      return true;
    }
    return add_number(static_cast<double>(count), spaces_[field], number_keys_[field], field,
                      options_.numbers, into);
  }

  key_id bucket_of(std::int64_t count, std::uint32_t field) {
    scratch_.clear();
    add_number(static_cast<double>(count), spaces_[field], 0, field, options_.numbers, scratch_);
    return scratch_.features.front().key;
  }

  bool read_category(std::string_view text, std::uint32_t field, example& into) {
    into.features.push_back({spaces_[field].key_of(text), 1, field});
    return true;
  }

  struct line_marks {
    std::size_t tabs = 0;
    bool odd = false;  // a byte that no column may have
  };
  static bool is_odd(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  }
  static line_marks marks_of(std::string_view line) {
    std::uint32_t tabs = 0, odd = 0;
    for (const char c : line) {
      tabs += c == '\t';
      odd |= is_odd(c);
    }
    return {tabs, odd != 0};
  }
  bool explain_odd(std::string_view line) {
    const auto odd = std::find_if(line.begin(), line.end(), is_odd);
    return note(
        line.substr(static_cast<std::size_t>(odd - line.begin())),
        format("byte 0x%02X has no place in Criteo's rows", static_cast<unsigned char>(*odd)));
  }

  bool note(std::string_view at, std::string reason) {
    fault_ = {static_cast<std::size_t>(at.data() - begin_) + 1, std::move(reason), false};
    return false;
  }

  static constexpr std::int64_t usual_counts = 1024;
  struct usual_count {
    key_id key = 0;
    bool made = false;
  };

  const format_options options_;
  std::vector<usual_count> usual_{counts * usual_counts};  // by field and count
  example scratch_;
  std::vector<namespace_of_names> spaces_;  // by field
  std::vector<key_id> number_keys_;         // by field: of counts that are values
  std::string_view line_;
  const char* begin_ = nullptr;
  row_fault fault_;
};

}  // namespace

result<std::unique_ptr<row_reader>> make_criteo_reader(const format_options& options) {
  return std::unique_ptr<row_reader>(std::make_unique<criteo_reader>(options));
}

}  // namespace troupe
