#include "apps/linear/label_map.hpp"

#include <charconv>
#include <system_error>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr std::size_t most_named = 5;

std::string text_of(double label) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, label).ptr;
  return {digits, end};
}

std::string listed(const data_facts& facts) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [label, rows] : facts.labels) {
    if (named++ == most_named) return text + ", ...";
    text += (text.empty() ? "" : ", ") + text_of(label);
  }
  return facts.labels_complete ? text : text + ", ...";
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto* first = text.data() + (text.rfind('+', 0) == 0 ? 1 : 0);
  const auto [end, code] = std::from_chars(first, text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

result<label_map> label_map::make(loss_kind loss, const std::string& positive,
                                  const data_facts& train, const std::string& negative) {
  const auto& labels = train.labels;
  const bool two_at_most = train.labels_complete && labels.size() <= 2;
  label_map map;
  map.maps_ = classifies(loss);
  if (map.maps_ && positive != "auto" && negative != "auto") {
    map.positive_ = number_of(positive);
    map.negative_ = number_of(negative);
    if (map.check(train, "")) return map;
    return error{errc::bad_data, "the training rows have the labels " + listed(train) +
                                     ", and data.positive_label and data.negative_label are " +
                                     positive + " and " + negative};
  }
  if (classifies(loss) && !two_at_most)
    return error{errc::bad_data, format("the %s loss knows two classes, but the training rows have "
                                        "the labels %s",
                                        to_string(loss), listed(train).c_str())};
  if (!two_at_most || labels.empty()) return map;

  const double low = labels.begin()->first, high = labels.rbegin()->first;
  double chosen = high;
  bool is_positive = labels.size() == 2 || high > 0;
  for (const auto& [key, text] :
       {std::pair("data.positive_label", &positive), {"data.negative_label", &negative}}) {
    if (*text == "auto") continue;
    const auto named = number_of(*text);
    if (!named || labels.count(*named) == 0)
      return error{errc::bad_config, std::string(key) + " is " + *text +
                                         ", but the training rows have the labels " +
                                         listed(train)};
    is_positive = text == &positive || labels.size() == 2;
    chosen = text == &positive || labels.size() == 1 ? *named : *named == high ? low : high;
  }
  if (is_positive) map.positive_ = chosen;
  if (labels.size() == 2) map.negative_ = chosen == high ? low : high;
  if (!is_positive) map.negative_ = chosen;
  return map;
}

result<void> label_map::check(const data_facts& facts, const std::string& name) const {
  if (!maps_) return {};
  for (const auto& [label, rows] : facts.labels)
    if (label != negative_ && label != positive_)
      return error{errc::bad_data,
                   name + " has the label " + text_of(label) + ", which no training row has"};
  if (!facts.labels_complete)
    return error{errc::bad_data, name + " has labels that no training row has: " + listed(facts)};
  return {};
}

std::optional<label_classes> label_map::classes() const {
  if (maps_) return label_classes{-1, 1};
  if (negative_ && positive_) return label_classes{*negative_, *positive_};
  return std::nullopt;
}

}  // namespace troupe
