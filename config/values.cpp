#include "config/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "config/number_text.hpp"
#include "config/units.hpp"
#include "core/text.hpp"

namespace troupe::config {

namespace {

error wrong(std::string text) {
  return {errc::bad_config, std::move(text)};
}
error not_a(const std::string& wanted, const node& found) {
  return wrong("expected " + wanted + ", found " + described(found));
}

std::string listed(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string text;
  for (int i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

bool among(const google::protobuf::RepeatedPtrField<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

error no_word(const Key& facts, const std::string& word, const char* else_what) {
  std::vector<std::string> known(facts.words().begin(), facts.words().end());
  if (!facts.minus_one().empty()) known.push_back(facts.minus_one());
  auto text = "'" + word + "' is not " + else_what +
              (facts.words().empty() ? facts.minus_one() : listed(facts.words()));
  if (const auto near = nearest(word, known); !near.empty())
    text += "; did you mean '" + near + "'?";
  return wrong(std::move(text));
}

// Also of what was typed without quotes: a job may be called 7.
std::optional<std::string> text_in(const node& value) {
  if (value.what == node::type::text) return value.text;
  const bool plain = value.what != node::type::list && value.what != node::type::table;
  if (value.typed && plain) return value.text;
  return std::nullopt;
}

result<scalar> text_of(const Key& facts, const node& value) {
  const auto text = text_in(value);
  if (!text) return not_a("text in quotes", value);
  if (text->find('\0') != std::string::npos) return wrong("a zero byte is not allowed in text");
  if (!facts.words().empty() && !among(facts.words(), *text))
    return no_word(facts, *text, "one of ");
  return scalar{*text};
}

result<scalar> label_of(const Key& facts, const node& value) {
  if (value.what == node::type::whole) {
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    if (value.whole < -exact || value.whole > exact)
      return wrong(std::to_string(value.whole) +
                   " is too large to be held exactly; labels end at 2^53");
    return scalar{std::to_string(value.whole)};
  }
  if (value.what == node::type::number && std::isfinite(value.number))
    return scalar{number_text(value.number)};
  if (value.what != node::type::text) return not_a("a number or " + listed(facts.words()), value);
  if (!among(facts.words(), value.text))
    return no_word(facts, value.text, "a number (without quotes) or ");
  return scalar{value.text};
}

result<scalar> boolean_of(const node& value) {
  if (value.what != node::type::boolean) return not_a("true or false", value);
  return scalar{value.boolean};
}

result<scalar> feature_key_of(const node& value) {
  if (value.what == node::type::whole && value.whole >= 0)
    return scalar{static_cast<std::uint64_t>(value.whole)};
  if (value.what != node::type::text)
    return not_a("a key: a whole number from 0 to 2^64-1, above 2^63-1 in quotes", value);
  const auto& text = value.text;
  const bool hexadecimal = text.rfind("0x", 0) == 0;
  const auto* begin = text.data() + (hexadecimal ? 2 : 0);
  const auto* end = text.data() + text.size();
  std::uint64_t key_number = 0;
  const auto read = std::from_chars(begin, end, key_number, hexadecimal ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != end)
    return wrong("'" + text + "' is not a whole number from 0 to 2^64-1");
  return scalar{key_number};
}

result<scalar> with_unit(const Key& facts, const node& value) {
  const bool duration = facts.kind() == Key::DURATION;
  if (value.what == node::type::text) {
    const auto parsed = duration ? parse_duration(value.text) : parse_size(value.text);
    if (!parsed) return parsed.failure();
    return scalar{*parsed};
  }
  if (!duration && value.what == node::type::whole) return scalar{value.whole};  // bytes
  if (duration && value.what == node::type::whole)
    return wrong(format("%lld has no unit; write \"%lld s\" or \"%lld ms\", in quotes",
                        static_cast<long long>(value.whole), static_cast<long long>(value.whole),
                        static_cast<long long>(value.whole)));
  return not_a(duration ? "a duration such as \"2 s\"" : "a size such as \"64 MiB\", or bytes",
               value);
}

result<scalar> whole_of(const FieldDescriptor& field, const Key& facts, const node& value) {
  if (!facts.minus_one().empty() && value.what == node::type::text) {
    if (value.text == facts.minus_one()) return scalar{std::int64_t{-1}};
    return no_word(facts, value.text, "a whole number or ");
  }
  if (value.what != node::type::whole)
    return not_a(
        "a whole number" + (facts.minus_one().empty() ? "" : " or \"" + facts.minus_one() + "\""),
        value);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) return scalar{value.whole};
  if (value.whole < 0)
    return wrong(std::to_string(value.whole) + " is below the smallest allowed value " +
                 facts.least());
  return scalar{static_cast<std::uint64_t>(value.whole)};
}

result<scalar> number_of(const node& value) {
  if (value.what == node::type::whole) return scalar{static_cast<double>(value.whole)};
  if (value.what != node::type::number) return not_a("a number", value);
  if (!std::isfinite(value.number)) return wrong(described(value) + " is not a finite number");
  return scalar{value.number};
}

// The value by its type alone.
result<scalar> typed(const FieldDescriptor& field, const Key& facts, const node& value) {
  switch (facts.kind()) {
    case Key::LABEL:
      return label_of(facts, value);
    case Key::DURATION:
    case Key::SIZE:
      return with_unit(facts, value);
    case Key::FEATURE_KEY:
      return feature_key_of(value);
    default:
      break;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return boolean_of(value);
    case FieldDescriptor::CPPTYPE_STRING:
      return text_of(facts, value);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number_of(value);
    default:
      return whole_of(field, facts, value);
  }
}

std::string plain_text(const Key& facts, const scalar& value) {
  auto text = toml_of(facts, value);
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  return text;
}

result<scalar> in_range(const FieldDescriptor& field, const Key& facts, scalar value) {
  const auto limit = [&](const std::string& text) {
    return *typed(field, facts, typed_value(text));
  };
  const auto say = [&](const char* relation, const std::string& end) {
    return wrong(plain_text(facts, value) + relation + end);
  };
  if (!facts.minus_one().empty() && value == scalar{std::int64_t{-1}}) return value;
  if (!facts.least().empty() && value < limit(facts.least()))
    return say(" is below the smallest allowed value ", facts.least());
  if (!facts.most().empty() && value > limit(facts.most()))
    return say(" is above the largest allowed value ", facts.most());
  if (!facts.above().empty() && value <= limit(facts.above()))
    return say(" is not allowed: it must be above ", facts.above());
  if (!facts.below().empty() && value >= limit(facts.below()))
    return say(" is not allowed: it must be below ", facts.below());
  return value;
}

}  // namespace

result<scalar> scalar_of(const FieldDescriptor& field, const Key& facts, const node& value) {
  auto read = typed(field, facts, value);
  if (!read) return read;
  // An explicit -1 is a number out of range, not the word that is kept as -1.
  const bool number = value.what == node::type::whole;
  if (number && !facts.minus_one().empty() && value.whole < 0)
    return wrong(std::to_string(value.whole) + " is below the smallest allowed value " +
                 facts.least());
  return in_range(field, facts, *std::move(read));
}

scalar default_of(const FieldDescriptor& field) {
  const auto& facts = facts_of(field);
  auto value = typed_value(facts.default_());
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    value.what = node::type::text;
    value.text = facts.default_();
  }
  return *scalar_of(field, facts, value);
}

std::string toml_of(const Key& facts, const scalar& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (*whole == -1 && !facts.minus_one().empty()) return quoted(facts.minus_one());
    if (*whole >= 0 && facts.kind() == Key::DURATION) return quoted(duration_text(*whole));
    if (*whole >= 0 && facts.kind() == Key::SIZE) return quoted(size_text(*whole));
    return std::to_string(*whole);
  }
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    const auto digits = std::to_string(*whole);
    return *whole > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? quoted(digits)
               : digits;
  }
  const auto& text = std::get<std::string>(value);
  if (facts.kind() == Key::LABEL && !among(facts.words(), text)) return text;
  return quoted(text);
}

void set(Message& message, const FieldDescriptor& field, const scalar& value) {
  const auto& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.SetBool(&message, &field, std::get<bool>(value));
    case FieldDescriptor::CPPTYPE_INT64:
      return r.SetInt64(&message, &field, std::get<std::int64_t>(value));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.SetUInt64(&message, &field, std::get<std::uint64_t>(value));
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetUInt32(&message, &field,
                         static_cast<std::uint32_t>(std::get<std::uint64_t>(value)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.SetDouble(&message, &field, std::get<double>(value));
    default:
      return r.SetString(&message, &field, std::get<std::string>(value));
  }
}

void add(Message& message, const FieldDescriptor& field, const scalar& value) {
  // The schema has lists of text, of numbers and of durations only.
  if (const auto* text = std::get_if<std::string>(&value))
    message.GetReflection()->AddString(&message, &field, *text);
  else if (const auto* number = std::get_if<double>(&value))
    message.GetReflection()->AddDouble(&message, &field, *number);
  else
    message.GetReflection()->AddInt64(&message, &field, std::get<std::int64_t>(value));
}

scalar get(const Message& message, const FieldDescriptor& field) {
  const auto& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return std::int64_t{r.GetInt64(message, &field)};
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::uint64_t{r.GetUInt64(message, &field)};
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::uint64_t{r.GetUInt32(message, &field)};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.GetDouble(message, &field);
    default:
      return r.GetString(message, &field);
  }
}

scalar get_item(const Message& message, const FieldDescriptor& field, int index) {
  const auto& r = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return r.GetRepeatedString(message, &field, index);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE)
    return r.GetRepeatedDouble(message, &field, index);
  return std::int64_t{r.GetRepeatedInt64(message, &field, index)};
}

}  // namespace troupe::config
