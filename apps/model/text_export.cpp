#include "apps/model/text_export.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <ostream>

#include "apps/model/manifest.hpp"
#include "apps/model/sorted_rows.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// As short as the table's type allows: 0.1f is "0.1", though it is no 0.1 in f64.
void append_number(std::string& line, value_type type, const std::byte* row, std::size_t index) {
  char digits[64];
  const double value = number_at(type, row, index);
  const auto end =
      type == value_type::f64
          ? std::to_chars(digits, digits + sizeof digits, value).ptr
          : std::to_chars(digits, digits + sizeof digits, static_cast<float>(value)).ptr;
  line += '\t';
  line.append(digits, end);
}

void export_table(const table& t, const dictionary& names, const text_export_options& options,
                  std::ostream& out) {
  const auto type = t.spec().type;
  const std::size_t width = t.spec().width;
  const auto rows = rows_of(t, options.weights_only);
  out << "# table " << t.spec().name << ": " << (type == value_type::f64 ? "f64" : "f32") << ", "
      << width << (width == 1 ? " value" : " values");
  if (rows.state_numbers > 0) out << " and " << rows.state_numbers << " of state";
  out << " to a key, " << rows.keys.size() << " rows\n";
  const auto number_bytes = bytes_of(type);
  std::string line;
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    line = std::to_string(rows.keys[i]);
    for (std::size_t k = 0; k < width; ++k)
      append_number(line, type, rows.values.data() + i * width * number_bytes, k);
    for (std::size_t k = 0; k < rows.state_numbers; ++k)
      append_number(line, type, rows.state.data() + i * rows.state_numbers * number_bytes, k);
    if (const auto name = names.name(rows.keys[i]); !name.empty() && t.spec().name != "bias")
      line.append("\t").append(name);
    out << line << '\n';
  }
}

}  // namespace

result<void> export_text(const saved_model& model, const dictionary& names,
                         const text_export_options& options, std::ostream& out) {
  const auto& m = model.manifest;
  out << "# troupe model: " << m.app() << ", " << m.loss() << " loss, job " << m.job()
      << ", digest " << m.model_digest() << '\n';
  out << "# a key is a feature's number less " << m.index_base() << '\n';
  const auto manifest = manifest_line(m);
  if (!manifest) return manifest.failure();
  out << manifest_mark << *manifest << '\n';
  for (const auto& t : model.tables) export_table(*t, names, options, out);
  out.flush();
  if (!out) return error{errc::io, "the export could not be written"};
  return {};
}

telling_features most_telling(const table& weights, const dictionary& names, std::size_t count) {
  assert(weights.spec().width == 1);
  std::vector<named_weight> positive, negative;
  const auto stronger = [](const named_weight& a, const named_weight& b) {
    const double x = a.value < 0 ? -a.value : a.value, y = b.value < 0 ? -b.value : b.value;
    return x != y ? x > y : a.key < b.key;
  };
  // A heap of the strongest so far, the weakest of them on top.
  const auto offer = [&](std::vector<named_weight>& best, named_weight one) {
    if (best.size() == count && (count == 0 || !stronger(one, best.front()))) return;
    if (best.size() == count) {
      std::pop_heap(best.begin(), best.end(), stronger);
      best.pop_back();
    }
    best.push_back(std::move(one));
    std::push_heap(best.begin(), best.end(), stronger);
  };
  for_each_row(weights, [&](key_id key, const std::byte* row) {
    const double value = number_at(weights.spec().type, row, 0);
    if (value > 0) offer(positive, {key, value, {}});
    if (value < 0) offer(negative, {key, value, {}});
  });
  telling_features features{std::move(positive), std::move(negative)};
  for (auto* side : {&features.positive, &features.negative}) {
    std::sort(side->begin(), side->end(), stronger);
    for (auto& one : *side) one.name = names.name(one.key);
  }
  return features;
}

void print(const telling_features& features, std::ostream& out) {
  const auto text = [](const named_weight& one) {
    return format("%+9.4f  ", one.value) +
           (one.name.empty() ? "key " + std::to_string(one.key) : one.name);
  };
  constexpr std::size_t column = 40;
  const auto rows = std::max(features.positive.size(), features.negative.size());
  for (std::size_t i = 0; i < rows; ++i) {
    auto left = i < features.positive.size() ? text(features.positive[i]) : std::string();
    const auto right = i < features.negative.size() ? text(features.negative[i]) : std::string();
    left.resize(std::max(left.size() + 1, column), ' ');
    auto line = "  " + left + right;
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace troupe
