#include "actors/worker/data/row_shaping.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace troupe {
namespace {

// Fields of interactions lie above those of any namespace, but for very large ones of libffm text.
constexpr std::uint32_t first_interaction = 1u << 20;

std::vector<std::string> cut(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == '*')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

}  // namespace

void encode(const row_shape& shape, byte_writer& out) {
  const auto put_words = [&](const std::vector<std::string>& words) {
    out.put(static_cast<std::uint64_t>(words.size()));
    for (const auto& word : words) out.put_text(word);
  };
  put_words(shape.ignore);
  out.put(static_cast<std::uint64_t>(shape.factors.size()));
  for (const auto& [name, factor] : shape.factors) {
    out.put_text(name);
    out.put(factor);
  }
  put_words(shape.interactions);
  out.put(static_cast<std::uint8_t>(shape.scaling));
}

result<row_shaper> row_shaper::make(const row_shape& shape, const name_hashing& hashing) {
  row_shaper made;
  made.shape_ = shape;
  made.hashing_ = hashing;
  for (const auto& text : shape.interactions) {
    interaction one;
    one.names = cut(text);
    if (one.names.size() < 2 || one.names.size() > most_factors)
      return error{errc::bad_config,
                   format("data.interactions: '%s' is no interaction: two to %zu namespaces with "
                          "'*' between them",
                          text.c_str(), most_factors)};
    one.seed = xxh64(text, hashing.seed);
    one.own_field = first_interaction + static_cast<std::uint32_t>(made.interactions_.size());
    made.interactions_.push_back(std::move(one));
  }
  return made;
}

bool row_shaper::resolve(const row_reader& reader, row_fault& fault) {
  const auto find = [&](const std::string& name, const char* key) {
    const auto field = reader.field_of(name);
    if (!field)
      fault = {
          1, format("%s names the namespace '%s', which these data do not have", key, name.c_str()),
          true};
    return field;
  };
  ignored_.clear();
  for (const auto& name : shape_.ignore) {
    const auto field = find(name, "data.ignore");
    if (!field) return false;
    ignored_.push_back(*field);
  }
  scales_.clear();
  for (const auto& [name, factor] : shape_.factors) {
    const auto field = find(name, "data.factors");
    if (!field) return false;
    scales_.emplace_back(*field, factor);
  }
  for (auto& one : interactions_) {
    one.fields.clear();
    for (const auto& name : one.names) {
      const auto field = find(name, "data.interactions");
      if (!field) return false;
      one.fields.push_back(*field);
    }
  }
  return true;
}

bool row_shaper::shape(example& row, row_fault& fault) {
  auto& all = row.features;
  if (!ignored_.empty())
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const feature& f) {
                               return std::find(ignored_.begin(), ignored_.end(), f.field) !=
                                      ignored_.end();
                             }),
              all.end());
  for (const auto& [field, factor] : scales_)
    for (auto& f : all)
      if (f.field == field) f.value = static_cast<float>(static_cast<double>(f.value) * factor);
  written_ = all.size();
  for (const auto& one : interactions_)
    if (!cross(one, row)) {
      fault = {1, format("the interactions make more than %zu features of this row", most_features),
               false};
      return false;
    }
  if (shape_.scaling == row_scaling::unit_length) {
    double squares = 0;
    for (const auto& f : all)
      squares += static_cast<double>(f.value) * static_cast<double>(f.value);
    const double length = std::sqrt(squares);
    if (length > 0)
      for (auto& f : all) f.value = static_cast<float>(static_cast<double>(f.value) / length);
  }
  for (const auto& f : all)
    if (!std::isfinite(f.value)) {
      fault = {1, "scaled or multiplied with others, a value is too large for a 32-bit float",
               false};
      return false;
    }
  return true;
}

bool row_shaper::cross(const interaction& one, example& row) {
  const auto factors = one.fields.size();
  choices_.resize(factors);
  for (std::size_t d = 0; d < factors; ++d) {
    choices_[d].clear();
    for (std::size_t i = 0; i < written_; ++i)
      if (row.features[i].field == one.fields[d]) choices_[d].push_back(i);
    // Of too few there is no combination, and none is looked for.
    const auto again = std::count(one.fields.begin(), one.fields.end(), one.fields[d]);
    if (choices_[d].size() < static_cast<std::size_t>(again)) return true;
  }
  chosen_.assign(factors, 0);
  return choose(one, row, 0, 1);
}

// Chooses factor number `depth` in turn. Of a namespace that comes several times each set of
// features comes once: a later factor takes only what stands behind an earlier one's.
bool row_shaper::choose(const interaction& one, example& row, std::size_t depth, double value) {
  if (depth == one.fields.size()) {
    if (row.features.size() >= most_features) return false;
    keys_.clear();
    for (const auto i : chosen_) keys_.push_back(row.features[i].key);
    const std::string_view bytes(reinterpret_cast<const char*>(keys_.data()),
                                 keys_.size() * sizeof(key_id));
    row.features.push_back(
        {hashing_.cut(xxh64(bytes, one.seed)), static_cast<float>(value), one.own_field});
    return true;
  }
  std::size_t from = 0;
  for (std::size_t d = 0; d < depth; ++d)
    if (one.fields[d] == one.fields[depth]) from = chosen_[d] + 1;
  for (const auto i : choices_[depth]) {
    if (i < from) continue;
    chosen_[depth] = i;
    if (!choose(one, row, depth + 1, value * static_cast<double>(row.features[i].value)))
      return false;
  }
  return true;
}

}  // namespace troupe
