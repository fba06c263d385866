#include "actors/worker/data/libsvm.hpp"

#include <algorithm>

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

// A token quoted for a message: shortened, and bytes that are not text escaped.
std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (char c : token.substr(0, longest))
    text += c >= 0x20 && c < 0x7F ? std::string(1, c)
                                  : format("\\x%02X", static_cast<unsigned char>(c));
  return text + (token.size() > longest ? "...'" : "'");
}

const char* reason_of(number_fault fault) {
  switch (fault) {
    case number_fault::not_finite:
      return "is not finite";
    case number_fault::too_large:
      return "is too large";
    case number_fault::inexact:
      return "is an integer that 64-bit floats cannot hold exactly";
    default:
      return "is not a number";
  }
}

class libsvm_reader final : public row_reader {
 public:
  explicit libsvm_reader(std::uint64_t base) : base_(base) {}

  row_outcome read(std::string_view line, example& into, row_fault& fault) override {
    line_ = line;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at != end && is_blank(*at)) ++at;
    if (at == end || *at == '#') return row_outcome::nothing;
    at = read_label(at, end, into.label);
    bool ascending = true;
    while (at) {
      while (at != end && is_blank(*at)) ++at;
      if (at == end || *at == '#') break;
      feature next;
      at = read_feature(at, end, next);
      ascending &= into.features.empty() || next.key > into.features.back().key;
      into.features.push_back(next);
    }
    if (at && (ascending || all_distinct(into.features))) return row_outcome::row;
    fault = std::move(fault_);
    return row_outcome::fault;
  }

 private:
  // These return where the token ended, or nothing after noting a fault.
  const char* read_label(const char* at, const char* end, double& label) {
    const std::string_view token = token_at(at, end);
    const auto fault = parse_exact(token, label);
    if (fault == number_fault::none) return at + token.size();
    return explain_label(token, fault);
  }

  const char* read_feature(const char* at, const char* end, feature& next) {
    const char* p = at;
    std::uint64_t index = 0;
    // 19 digits cannot overflow; longer and odder ones go the careful way.
    while (p != end && is_digit(*p) && p - at < 19)
      index = index * 10 + static_cast<std::uint64_t>(*p++ - '0');
    if (p == at || p == end || *p != ':' || index < base_) return read_odd_feature(at, end, next);
    next.key = index - base_;
    ++p;
    // The value of a binary feature.
    if (end - p >= 1 && *p == '1' && (end - p == 1 || ends_token(p[1]))) {
      next.value = 1;
      return p + 1;
    }
    return read_value(at, p, end, next.value);
  }

  // Up to 7 digits over a power of ten up to 10^10 are both exact in f32, so that one division
  // rounds correctly (Clinger: How to read floating point numbers accurately, PLDI 1990). The rest
  // is for std::from_chars.
  const char* read_value(const char* token, const char* at, const char* end, float& value) {
    static constexpr float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                       1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    const char* p = at;
    const bool negative = p != end && *p == '-';
    if (negative) ++p;
    std::uint32_t mantissa = 0;
    const char* digits = p;
    while (p != end && is_digit(*p) && mantissa < 1'000'000)
      mantissa = mantissa * 10 + static_cast<std::uint32_t>(*p++ - '0');
    std::ptrdiff_t whole = p - digits, fraction = 0;
    if (p != end && *p == '.') {
      const char* point = p++;
      while (p != end && is_digit(*p) && mantissa < 1'000'000)
        mantissa = mantissa * 10 + static_cast<std::uint32_t>(*p++ - '0');
      fraction = p - point - 1;
    }
    if (whole + fraction > 0 && fraction <= 10 && (p == end || ends_token(*p))) {
      const float magnitude = static_cast<float>(mantissa) / powers[fraction];
      value = negative ? -magnitude : magnitude;
      return p;
    }
    const std::string_view text = token_at(at, end);
    const auto fault = parse_f32(text, value);
    if (fault == number_fault::none) return at + text.size();
    return explain_value(token, text, fault);
  }

  const char* read_odd_feature(const char* at, const char* end, feature& next) {
    const std::string_view token = token_at(at, end);
    const auto colon = token.find(':');
    if (colon == std::string_view::npos)
      return note(at, token, quoted(token) + " has no colon: a feature is index:value");
    const auto name = token.substr(0, colon);
    if (name == "qid" || name == "sid" || name == "cost")
      return note(
          at, token,
          "'" + std::string(name) + ":' belongs to a dialect of LIBSVM text that is not read");
    std::uint64_t index = 0;
    const auto fault = parse_u64(name, index);
    if (name.empty()) return note(at, token, quoted(token) + " has no index before its colon");
    if (fault == number_fault::too_large)
      return note(at, token, "index " + quoted(name) + " is above 2^64-1");
    if (fault != number_fault::none)
      return note(at, token,
                  "index " + quoted(name) + " is not an integer from " + std::to_string(base_) +
                      " to 2^64-1");
    if (index < base_)
      return note(at, token, "index 0 in data whose indices start at 1 (see index_base)");
    next.key = index - base_;
    return read_value(at, at + colon + 1, end, next.value);
  }

  bool all_distinct(const std::vector<feature>& features) {
    keys_.clear();
    for (std::size_t i = 0; i < features.size(); ++i) keys_.push_back({features[i].key, i});
    std::sort(keys_.begin(), keys_.end());
    const auto twice =
        std::adjacent_find(keys_.begin(), keys_.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice == keys_.end()) return true;
    const char* at = feature_token(std::next(twice)->second);
    // The index as written, which is key + base without overflow.
    const std::string_view token = token_at(at, line_.data() + line_.size());
    note(at, token,
         "index " + std::string(token.substr(0, token.find(':'))) + " comes twice in this line");
    return false;
  }

  // Where the feature of that number stands, the label being the token before number 0.
  const char* feature_token(std::size_t number) const {
    const char* at = line_.data();
    const char* const end = at + line_.size();
    for (std::size_t passed = 0;; ++passed) {
      while (at != end && is_blank(*at)) ++at;
      if (passed == number + 1) return at;
      at += token_at(at, end).size();
    }
  }

  static std::string_view token_at(const char* at, const char* end) {
    return {at, static_cast<std::size_t>(std::find_if(at, end, ends_token) - at)};
  }

  const char* explain_label(std::string_view token, number_fault fault) {
    if (fault == number_fault::malformed && token.find(':') != std::string_view::npos)
      return note(token.data(), token, "a label must come before " + quoted(token));
    if (fault == number_fault::malformed && token.find(',') != std::string_view::npos)
      return note(token.data(), token,
                  "label " + quoted(token) + " is not a number; several labels are not read");
    return note(token.data(), token, "label " + quoted(token) + " " + reason_of(fault));
  }

  const char* explain_value(const char* at, std::string_view text, number_fault fault) {
    const std::string_view token(at, static_cast<std::size_t>(text.data() + text.size() - at));
    if (text.empty()) return note(at, token, quoted(token) + " has no value after its colon");
    if (text.find(':') != std::string_view::npos)
      return note(at, token,
                  quoted(token) + " has two colons: field:index:value is not LIBSVM text");
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

  std::uint64_t base_;
  std::string_view line_;
  row_fault fault_;
  std::vector<std::pair<key_id, std::size_t>> keys_;
};

}  // namespace

result<std::unique_ptr<row_reader>> make_libsvm_reader(const format_options& options) {
  if (options.index_base > 1)
    return error{errc::bad_config,
                 "the index base is " + std::to_string(options.index_base) + "; it must be 0 or 1"};
  return std::unique_ptr<row_reader>(std::make_unique<libsvm_reader>(options.index_base));
}

}  // namespace troupe
