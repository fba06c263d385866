#include "actors/worker/data/libsvm.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "actors/worker/data/number.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool ends_token(char c) {
  return c == ' ' || c == '\t' || c == '#';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view token_at(const char* at, const char* end) {
  return {at, static_cast<std::size_t>(std::find_if(at, end, ends_token) - at)};
}

// `with_fields`: a feature is field:index:value.
template <bool with_fields>
class libsvm_reader final : public row_reader {
 public:
  explicit libsvm_reader(const format_options& options)
      : options_(options), base_(options.index_base) {}

  row_outcome read(std::string_view line, example& into, row_fault& fault) override {
    line_ = line;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at != end && is_blank(*at)) ++at;
    if (at == end || *at == '#') return row_outcome::nothing;
    at = read_label(at, end, into);
    bool ascending = true;
    while (at) {
      while (at != end && is_blank(*at)) ++at;
      if (at == end || *at == '#') break;
      feature next;
      const char* after = read_feature(at, end, next);
      if (after == nullptr && fault_.reason.empty()) {
        at = read_other(at, end, into);
        continue;
      }
      at = after;
      ascending &= into.features.empty() || next.key > into.features.back().key;
      into.features.push_back(next);
    }
    if (at && (ascending || all_distinct(into.features))) return row_outcome::row;
    fault = std::move(fault_);
    fault_ = {};
    return row_outcome::fault;
  }

  std::optional<std::uint32_t> field_of(std::string_view name) const override {
    if (!with_fields) return name.empty() ? std::optional<std::uint32_t>(0) : std::nullopt;
    std::uint64_t field = 0;
    if (parse_u64(name, field) != number_fault::none || field > ~std::uint32_t{0})
      return std::nullopt;
    return static_cast<std::uint32_t>(field);
  }

 private:
  // These return where the token ended, or nothing: after noting a fault, or, read_feature() alone,
  // where the token is none that it knows.
  const char* read_label(const char* at, const char* end, example& into) {
    const std::string_view token = token_at(at, end);
    const auto colon = token.find(':');
    if (colon == std::string_view::npos) {
      const auto fault = parse_exact(token, into.label);
      if (fault == number_fault::none) return at + token.size();
      return explain_label(token, fault);
    }
    if (options_.label_weights && token.find(':', colon + 1) == std::string_view::npos) {
      const auto fault = parse_exact(token.substr(0, colon), into.label);
      if (fault != number_fault::none) return explain_label(token.substr(0, colon), fault);
      return read_weight(token, token.substr(colon + 1), into);
    }
    if (options_.labels_optional) {
      into.labelled = false;
      return at;
    }
    return note(token.data(), token,
                "a label must come before " + quoted(token) +
                    (with_fields ? "" : "; label:weight is read with data.label_weights"));
  }

  const char* read_weight(std::string_view token, std::string_view text, example& into) {
    const auto fault = parse_exact(text, into.weight);
    if (fault != number_fault::none)
      return note(text.data(), token, "weight " + quoted(text) + " " + reason_of(fault));
    if (into.weight < 0) return note(text.data(), token, "weight " + quoted(text) + " is below 0");
    return text.data() + text.size();
  }

  const char* read_feature(const char* at, const char* end, feature& next) {
    if (with_fields) {
      const char* p = at;
      std::uint64_t field = 0;
      while (p != end && is_digit(*p) && p - at < 9)
        field = field * 10 + static_cast<std::uint64_t>(*p++ - '0');
      if (p == at || p == end || *p != ':') return read_odd_field(at, end, next);
      next.field = static_cast<std::uint32_t>(field);
      return read_index(at, p + 1, end, next);
    }
    return read_index(at, at, end, next);
  }

  const char* read_index(const char* token, const char* at, const char* end, feature& next) {
    const char* p = at;
    std::uint64_t index = 0;
    // 19 digits cannot overflow; longer and odder ones go the careful way.
    while (p != end && is_digit(*p) && p - at < 19)
      index = index * 10 + static_cast<std::uint64_t>(*p++ - '0');
    if (p == at || p == end || *p != ':' || index < base_)
      return read_odd_index(token, at, end, next);
    next.key = index - base_;
    ++p;
    // The value of a binary feature.
    if (end - p >= 1 && *p == '1' && (end - p == 1 || ends_token(p[1]))) {
      next.value = 1;
      return p + 1;
    }
    return read_value(token, p, end, next.value);
  }

  const char* read_value(const char* token, const char* at, const char* end, float& value) {
    const char* p = parse_plain_f32(at, end, value);
    if (p != at && (p == end || ends_token(*p))) return p;
    const std::string_view text = token_at(at, end);
    const auto fault = parse_f32(text, value);
    if (fault == number_fault::none) return at + text.size();
    return explain_value(token, text, fault);
  }

  const char* read_odd_field(const char* at, const char* end, feature& next) {
    const std::string_view token = token_at(at, end);
    const auto colon = token.find(':');
    if (colon == std::string_view::npos)
      return note(at, token, quoted(token) + " has no colon: a feature is field:index:value");
    const auto text = token.substr(0, colon);
    if (is_dialect(text)) return nullptr;
    std::uint64_t field = 0;
    if (parse_u64(text, field) != number_fault::none || field > ~std::uint32_t{0})
      return note(at, token, "field " + quoted(text) + " is not an integer from 0 to 2^32-1");
    next.field = static_cast<std::uint32_t>(field);
    return read_index(at, at + colon + 1, end, next);
  }

  const char* read_odd_index(const char* token_begin, const char* at, const char* end,
                             feature& next) {
    const std::string_view token = token_at(token_begin, end);
    const std::string_view rest = token_at(at, end);
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos)
      return note(token_begin, token,
                  quoted(token) + (with_fields ? " has one colon: a feature is field:index:value"
                                               : " has no colon: a feature is index:value"));
    const auto name = rest.substr(0, colon);
    if (!with_fields && is_dialect(name)) return nullptr;
    std::uint64_t index = 0;
    const auto fault = parse_u64(name, index);
    if (name.empty())
      return note(token_begin, token, quoted(token) + " has no index before its colon");
    if (fault == number_fault::too_large)
      return note(at, token, "index " + quoted(name) + " is above 2^64-1");
    if (fault != number_fault::none && !options_.names_are_keys)
      return note(at, token,
                  "index " + quoted(name) + " is not an integer from " + std::to_string(base_) +
                      " to 2^64-1");
    if (fault != number_fault::none)
      next.key = space_of(next.field).key_of(name);
    else if (index < base_)
      return note(at, token, "index 0 in data whose indices start at 1 (see index_base)");
    else
      next.key = index - base_;
    return read_value(token_begin, at + colon + 1, end, next.value);
  }

  static bool is_dialect(std::string_view name) {
    return name == "qid" || name == "sid" || name == "cost";
  }

  const char* read_other(const char* at, const char* end, example& into) {
    const std::string_view token = token_at(at, end);
    const auto colon = token.find(':');
    const auto name = token.substr(0, colon), text = token.substr(colon + 1);
    if (name == "cost") return read_weight(token, text, into);
    if (name == "qid") {
      std::uint64_t group = 0;
      if (parse_u64(text, group) != number_fault::none)
        return note(text.data(), token,
                    "qid " + quoted(text) + " is not an integer from 0 to 2^64-1");
      if (into.group) return note(at, token, "'qid:' comes twice in this line");
      into.group = group;
      return at + token.size();
    }
    return note(
        at, token,
        "'" + std::string(name) + ":' belongs to a dialect of LIBSVM text that is not read");
  }

  namespace_of_names& space_of(std::uint32_t field) {
    const auto found = spaces_.find(field);
    if (found != spaces_.end()) return found->second;
    return spaces_
        .emplace(field, namespace_of_names(with_fields ? std::to_string(field) : std::string(),
                                           options_.hashing, options_.names.get()))
        .first->second;
  }

  // Of one field: other fields may have the same index. Two names may share a hash; that is no
  // fault.
  bool all_distinct(const std::vector<feature>& features) {
    keys_.clear();
    for (std::size_t i = 0; i < features.size(); ++i)
      keys_.emplace_back(features[i].key, features[i].field, i);
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t i = 1; i < keys_.size(); ++i)
      for (std::size_t k = i; k > 0 && same_feature(keys_[k - 1], keys_[i]); --k)
        if (written_alike(std::get<2>(keys_[k - 1]), std::get<2>(keys_[i])))
          return note_repetition(features[std::get<2>(keys_[i])], std::get<2>(keys_[i]));
    return true;
  }

  using placed_key = std::tuple<key_id, std::uint32_t, std::size_t>;
  static bool same_feature(const placed_key& a, const placed_key& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  }

  bool written_alike(std::size_t a, std::size_t b) const {
    if (!options_.names_are_keys) return true;
    const auto x = index_text(a), y = index_text(b);
    const auto numeric = [](std::string_view text) {
      return std::all_of(text.begin(), text.end(), is_digit);
    };
    return x == y || (numeric(x) && numeric(y));
  }

  // The index as written, which is key + base without overflow, or a name.
  std::string_view index_text(std::size_t number) const {
    const auto token = token_at(feature_token(number), line_.data() + line_.size());
    const auto index = token.substr(with_fields ? token.find(':') + 1 : 0);
    return index.substr(0, index.find(':'));
  }

  bool note_repetition(const feature& one, std::size_t number) {
    const auto text = "index " + std::string(index_text(number)) + " comes twice in ";
    const char* at = feature_token(number);
    note(at, token_at(at, line_.data() + line_.size()),
         text +
             (with_fields ? "field " + std::to_string(one.field) + " of this line" : "this line"));
    return false;
  }

  // Where the feature of that number stands.
  const char* feature_token(std::size_t number) const {
    const char* at = line_.data();
    const char* const end = at + line_.size();
    std::size_t passed = 0;
    for (bool first = true;; first = false) {
      while (at != end && is_blank(*at)) ++at;
      const auto token = token_at(at, end);
      const bool label = first && (token.find(':') == std::string_view::npos ||
                                   options_.label_weights || !options_.labels_optional);
      if (!label && !is_dialect(token.substr(0, token.find(':'))) && passed++ == number) return at;
      at += token.size();
    }
  }

  const char* explain_label(std::string_view token, number_fault fault) {
    if (fault == number_fault::malformed && token.find(',') != std::string_view::npos)
      return note(token.data(), token,
                  "label " + quoted(token) + " is not a number; several labels are not read");
    return note(token.data(), token, "label " + quoted(token) + " " + reason_of(fault));
  }

  const char* explain_value(const char* at, std::string_view text, number_fault fault) {
    const std::string_view token(at, static_cast<std::size_t>(text.data() + text.size() - at));
    if (text.empty()) return note(at, token, quoted(token) + " has no value after its colon");
    if (text.find(':') != std::string_view::npos)
      return note(
          at, token,
          quoted(token) + (with_fields ? " has more than two colons: a feature is field:index:value"
                                       : " has two colons: field:index:value is libffm text "
                                         "(data.format = \"libffm\")"));
    std::string reason = "value " + quoted(text) + " " + reason_of(fault);
    if (fault == number_fault::too_large) reason += " for a 32-bit float";
    return note(text.data(), token, std::move(reason));
  }

  // Bytes that are not text explain more than what they spoil.
  const char* note(const char* at, std::string_view token, std::string reason) {
    const auto odd = std::find_if(token.begin(), token.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F;
    });
    if (odd != token.end()) {
      at = token.data() + (odd - token.begin());
      reason = format("byte 0x%02X has no place in LIBSVM text", static_cast<unsigned char>(*odd));
    }
    fault_ = {static_cast<std::size_t>(at - line_.data()) + 1, std::move(reason)};
    return nullptr;
  }

  const format_options options_;
  const std::uint64_t base_;
  std::string_view line_;
  row_fault fault_;
  std::vector<placed_key> keys_;
  std::map<std::uint32_t, namespace_of_names> spaces_;  // by field
};

template <bool with_fields>
result<std::unique_ptr<row_reader>> make_reader(const format_options& options) {
  if (options.index_base > 1)
    return error{errc::bad_config,
                 "the index base is " + std::to_string(options.index_base) + "; it must be 0 or 1"};
  return std::unique_ptr<row_reader>(std::make_unique<libsvm_reader<with_fields>>(options));
}

}  // namespace

result<std::unique_ptr<row_reader>> make_libsvm_reader(const format_options& options) {
  return make_reader<false>(options);
}

result<std::unique_ptr<row_reader>> make_libffm_reader(const format_options& options) {
  return make_reader<true>(options);
}

}  // namespace troupe
