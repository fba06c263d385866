#include "messages/filters/filter_text.hpp"

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace troupe {
namespace {

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

result<pb::FilterSpec> filter_of(const std::string& text) {
  std::istringstream in(text);
  pb::FilterSpec spec;
  std::string word;
  in >> word;
  spec.set_name(word);
  while (in >> word) {
    const auto equals = word.find('=');
    const auto number = equals == std::string::npos
                            ? std::nullopt
                            : number_in(std::string_view(word).substr(equals + 1));
    if (!number)
      return error{errc::bad_config, "the filter '" + text + "': '" + word +
                                         "' is no number with its name, as in 'level=3'"};
    auto* to = spec.add_parameters();
    to->set_name(word.substr(0, equals));
    to->set_value(*number);
  }
  return spec;
}

result<void> add_filters(const filter_texts& chain, filter_specs& to) {
  if (chain.size() == 1 && chain[0] == "none") return {};
  for (const auto& text : chain) {
    auto spec = filter_of(text);
    if (!spec) return spec.failure();
    *to.Add() = *std::move(spec);
  }
  return {};
}

}  // namespace troupe
