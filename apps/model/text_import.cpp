// The reading of text models.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <system_error>

#include "apps/model/manifest.hpp"
#include "apps/model/model_import.hpp"
#include "apps/model/text_export.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30;

std::string_view next_line(std::string_view& text) {
  auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view next_field(std::string_view& line) {
  const auto field = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

template <class T>
bool append_number(std::string_view text, std::vector<std::byte>& into) {
  T number{};
  if (!read_number(text, number) || !std::isfinite(number)) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  into.insert(into.end(), bytes, bytes + sizeof number);
  return true;
}

class text_model {
 public:
  explicit text_model(std::string path) : path_(std::move(path)) {}

  result<imported_model> read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const auto line = next_line(text);
      if (line.empty()) continue;
      auto done = line.front() == '#' ? read_comment(line) : read_row(line);
      if (!done) return done.failure();
    }
    if (!described_)
      return wrong("there is no line '# manifest': it is no model that was exported");
    return std::move(model_);
  }

 private:
  error wrong(const std::string& why) const {
    return {errc::bad_data, format("%s:%zu: ", path_.c_str(), line_) + why};
  }

  result<void> read_comment(std::string_view line) {
    const std::string_view mark = manifest_mark, table = "# table ";
    if (line.substr(0, mark.size()) == mark) {
      if (described_) return wrong("a second manifest");
      auto manifest = parse_manifest_line(std::string(line.substr(mark.size())));
      if (!manifest) return wrong(manifest.failure().text);
      model_.manifest = std::move(*manifest);
      model_.tables.resize(static_cast<std::size_t>(model_.manifest.tables_size()));
      described_ = true;
      return {};
    }
    if (line.substr(0, table.size()) == table) return begin_table(line.substr(table.size()));
    return {};
  }

  // "weights: f32, 1 value and 1 of state to a key, 123 rows"
  result<void> begin_table(std::string_view text) {
    const auto name = text.substr(0, text.find(':'));
    for (int i = 0; i < model_.manifest.tables_size(); ++i) {
      const auto& spec = model_.manifest.tables(i).spec();
      if (spec.name() != name) continue;
      rows_ = &model_.tables[static_cast<std::size_t>(i)];
      if (!begun_.insert(i).second) return wrong("a second table '" + spec.name() + "'");
      width_ = spec.width();
      doubles_ = spec.value_type() == "f64";
      const std::string_view sign = " and ";
      const auto at = text.find(sign);
      if (at != std::string_view::npos) {
        const auto count = text.substr(at + sign.size());
        if (!read_number(count.substr(0, count.find(' ')), rows_->state_numbers) ||
            rows_->state_numbers > 64)
          return wrong("how many numbers of state a row has cannot be read");
      }
      return {};
    }
    return wrong("the manifest has no table '" + std::string(name) + "'");
  }

  result<void> read_row(std::string_view line) {
    if (rows_ == nullptr) return wrong("a row before any '# table' line");
    key_id key = 0;
    if (!read_number(next_field(line), key))
      return wrong("a line of a model is a key, a tab and numbers between tabs");
    if (!rows_->keys.empty() && key <= rows_->keys.back())
      return wrong("key " + std::to_string(key) + " does not ascend");
    rows_->keys.push_back(key);
    for (std::size_t i = 0; i < width_ + rows_->state_numbers; ++i) {
      auto& into = i < width_ ? rows_->values : rows_->state;
      const auto field = next_field(line);
      if (!(doubles_ ? append_number<double>(field, into) : append_number<float>(field, into)))
        return wrong("'" + std::string(field.substr(0, 40)) + "' is no finite number of " +
                     (doubles_ ? "64 bits" : "32 bits") +
                     format("; %zu are wanted", width_ + rows_->state_numbers));
    }
    if (!line.empty()) model_.names += std::to_string(key) + "\t" + std::string(line) + "\n";
    return {};
  }

  const std::string path_;
  std::size_t line_ = 0;
  imported_model model_;
  bool described_ = false, doubles_ = false;
  std::set<int> begun_;  // tables
  sorted_rows* rows_ = nullptr;
  std::size_t width_ = 0;
};

}  // namespace

result<imported_model> read_text_model(file_system& files, const std::string& path) {
  const auto text = read_text(files, path, most_bytes);
  if (!text) return text.failure();
  return text_model(path).read(*text);
}

}  // namespace troupe
