#include "apps/model/text_export.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <ostream>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t rows_at_once = 1 << 16;

// Calls visit(key, pointer to the row's values) for all rows, in the order of positions.
template <class Visit>
void for_each_row(const table& t, Visit visit) {
  closed_range rest = all_keys;
  for (bool more = true; more;) {
    const auto rows = t.read_range(rest, rows_at_once);
    for (std::size_t i = 0; i < rows.positions.size(); ++i)
      visit(t.spec().keys.key_at(rows.positions[i]), rows.values.data() + i * t.spec().row_bytes());
    more = rows.next.has_value();
    if (more) rest.first = *rows.next;
  }
}

double value_at(const table& t, const std::byte* row, std::size_t index) {
  if (t.spec().type == value_type::f64) {
    double value;
    std::memcpy(&value, row + index * sizeof value, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, row + index * sizeof value, sizeof value);
  return static_cast<double>(value);
}

// As short as the table's type allows: 0.1f is "0.1", though it is no 0.1 in f64.
void append_value(std::string& line, const table& t, const std::byte* row, std::size_t index) {
  char digits[64];
  const double value = value_at(t, row, index);
  const auto end =
      t.spec().type == value_type::f64
          ? std::to_chars(digits, digits + sizeof digits, value).ptr
          : std::to_chars(digits, digits + sizeof digits, static_cast<float>(value)).ptr;
  line += '\t';
  line.append(digits, end);
}

void export_table(const table& t, const dictionary& names, const text_export_options& options,
                  std::ostream& out) {
  const auto width = t.spec().width;
  const auto row_bytes = t.spec().row_bytes();
  out << "# table " << t.spec().name << ": " << (t.spec().type == value_type::f64 ? "f64" : "f32")
      << ", " << width << (width == 1 ? " value" : " values") << " to a key, " << t.rows()
      << " rows\n";
  struct place {
    key_id key;
    std::size_t row;
  };
  std::vector<place> order;
  std::vector<std::byte> values;
  order.reserve(t.rows());
  values.reserve(t.rows() * row_bytes);
  for_each_row(t, [&](key_id key, const std::byte* row) {
    bool zero = true;
    for (std::size_t i = 0; i < width; ++i) zero = zero && value_at(t, row, i) == 0;
    if (zero && options.weights_only) return;
    order.push_back({key, order.size()});
    values.insert(values.end(), row, row + row_bytes);
  });
  std::sort(order.begin(), order.end(),
            [](const place& a, const place& b) { return a.key < b.key; });
  std::string line;
  for (const auto& at : order) {
    line = std::to_string(at.key);
    for (std::size_t i = 0; i < width; ++i)
      append_value(line, t, values.data() + at.row * row_bytes, i);
    if (const auto name = names.name(at.key); !name.empty() && t.spec().name != "bias")
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
    const double value = value_at(weights, row, 0);
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
