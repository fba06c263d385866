// Numbers of 8 or 16 bits or, with `bits`, of as few as half of that: whole multiples of a power of
// two, chosen for each block of rows so that its largest magnitude just fits. A number is rounded
// to one of its two neighbours, by a draw that makes the expectation exact (rounding.hpp): the
// error is below max / 63.5 (16 bits: max / 16383.5), max being the block's largest magnitude.
// Bounds and lengths are rounded up to a power of 2^(1/8) (16 bits:
// 2^(1/1024)), at most 9.1 % (0.07 %) above.
//
// A scale that is a power of two can be read off the numbers again, by whoever holds any part of
// them: so a push is rounded once, and each message that it is cut into is packed by itself,
// exactly, in runs of numbers that share a scale. The columns of a row (at most four) have runs of
// their own.
//
//   of each column   runs, then of each: u8 its kind, i16 exponent, and, but for the last, its
//                    length (counts in 7 bits to a byte); then all codes, in so many bits each
//
// The most negative code is the negative zero.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "core/math.hpp"
#include "core/random.hpp"
#include "messages/filters/bits.hpp"
#include "messages/filters/registry.hpp"
#include "messages/filters/rounding.hpp"

namespace troupe {
namespace {

// 2^(i / steps), and the powers that are rounded to.
template <int steps>
class powers {
 public:
  static const powers& table() {
    static const powers made;
    return made;
  }
  template <class T>
  T at(int q) const {
    const int octave = q >= 0 ? q / steps : -((steps - 1 - q) / steps);
    return static_cast<T>(std::ldexp(root_[static_cast<std::size_t>(q - octave * steps)], octave));
  }
  // The least q with at(q) >= x > 0.
  template <class T>
  int above(T x) const {
    int q = nearest(x);
    while (at<T>(q) < x) ++q;
    while (at<T>(q - 1) >= x) --q;
    return q;
  }
  template <class T>
  int nearest(T x) const {
    int exponent;
    const double part = std::frexp(static_cast<double>(x), &exponent);  // [0.5, 1)
    const auto found = std::lower_bound(root_.begin(), root_.end(), 2 * part * (1 - 1e-6));
    return (exponent - 1) * steps + static_cast<int>(found - root_.begin());
  }

 private:
  powers() {
    for (int i = 0; i < steps; ++i)
      root_[static_cast<std::size_t>(i)] = math::pow(2, static_cast<double>(i) / steps);
  }
  std::array<double, steps> root_{};
};

template <class Code>
struct form;
template <>
struct form<std::int8_t> {
  static constexpr int steps = 8;
};
template <>
struct form<std::int16_t> {
  static constexpr int steps = 1024;
};

enum class run_kind : std::uint8_t { linear, power };
struct run {
  run_kind kind;
  std::int16_t exponent;  // of the unit; power: of the first step
  std::uint32_t length;
};

// The exponent of the lowest bit that is set in x, which is not 0.
int lowest_bit(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const auto mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  if (exponent == 0) return -1074 + __builtin_ctzll(mantissa);
  return exponent - 1075 + __builtin_ctzll(mantissa | (std::uint64_t{1} << 52));
}

// Of a linear code; -1 more is the negative zero.
int largest_code(int bits) {
  return (1 << (bits - 1)) - 1;
}
int bits_in(const filter_numbers& numbers) {
  return static_cast<int>(numbers.at("bits"));
}

std::size_t columns_of(const filter_place& place) {
  return place.numbers <= 4 ? place.numbers : 1;
}

template <class Code>
class fixed_rounding final : public value_filter {
 public:
  fixed_rounding(const filter_numbers& numbers, const filter_place& place)
      : place_(place),
        block_(static_cast<std::size_t>(numbers.at("block"))),
        most_(largest_code(bits_in(numbers))) {}

  void apply(payload& rows, const filter_moment& when) override {
    if (rows.values.empty()) return;
    const auto seed = seed_of(when.seed, when.slot, when.clock, when.index);
    place_.doubles ? apply_to<double>(rows, seed) : apply_to<float>(rows, seed);
  }

 private:
  template <class T>
  void apply_to(payload& rows, std::uint64_t seed) {
    auto [bytes, out] = blob::uninitialised(rows.values.size());
    std::memcpy(out, rows.values.data(), rows.values.size());
    auto* numbers = reinterpret_cast<T*>(out);
    const auto count = rows.values.size() / sizeof(T);
    const auto columns = columns_of(place_);
    const auto in_block = block_ * columns;
    for (std::size_t from = 0; from < count; from += in_block)
      for (std::size_t c = 0; c < columns; ++c)
        round_block(numbers, from + c, std::min(count, from + in_block), columns, seed);
    rows.values = std::move(bytes);
  }

  template <class T>
  void round_block(T* numbers, std::size_t from, std::size_t end, std::size_t columns,
                   std::uint64_t seed) {
    if (place_.bound(from % place_.numbers)) {
      const auto& table = powers<form<Code>::steps>::table();
      for (auto i = from; i < end; i += columns)
        if (numbers[i] > 0) numbers[i] = table.template at<T>(table.above(numbers[i]));
      return;
    }
    const auto count = from < end ? (end - from + columns - 1) / columns : 0;
    round_to_multiples(numbers + from, count, columns, most_, seed, from);
  }

  const filter_place place_;
  const std::size_t block_;
  const int most_;
};

template <class Code>
class fixed_packing final : public transmission_filter {
 public:
  fixed_packing(const filter_numbers& numbers, const filter_place& place)
      : place_(place),
        bits_(bits_in(numbers)),
        most_(largest_code(bits_)),
        most_power_(2 * most_),
        minus_zero_(static_cast<Code>(-most_ - 1)) {}

  bool encode(payload& message, std::string& notes) override {
    if (message.values.empty()) return false;
    return place_.doubles ? pack<double>(message, notes) : pack<float>(message, notes);
  }
  undone decode(payload& message, const std::string& notes) override {
    return place_.doubles ? unpack<double>(message, notes) : unpack<float>(message, notes);
  }

 private:
  template <class T>
  bool pack(payload& message, std::string& notes) {
    const auto in = message.values.as<T>();
    const auto columns = columns_of(place_);
    byte_writer head;
    std::vector<Code> codes;
    codes.reserve(in.size());
    for (std::size_t c = 0; c < columns; ++c) {
      runs_.clear();
      const bool fits = place_.bound(c % place_.numbers) ? power_runs(in, c, columns, codes)
                                                         : linear_runs(in, c, columns, codes);
      if (!fits) return false;
      head.put_short(runs_.size());
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        head.put(static_cast<std::uint8_t>(runs_[r].kind));
        head.put(runs_[r].exponent);
        if (r + 1 < runs_.size()) head.put_short(runs_[r].length);
      }
    }
    put_codes(codes, head);
    if (head.size() + 8 >= message.values.size()) return false;
    byte_writer note;
    note.put_short(in.size());
    notes.assign(reinterpret_cast<const char*>(note.bytes().data()), note.size());
    message.values = blob::copy_of(span<const std::byte>(head.bytes()));
    return true;
  }

  // As whole numbers, where they fill theirs, else bit by bit.
  bool fills() const { return bits_ == 8 * static_cast<int>(sizeof(Code)); }
  void put_codes(const std::vector<Code>& codes, byte_writer& out) const {
    if (fills()) return out.put_all(span<const Code>(codes));
    bit_writer bits(out);
    const auto mask = (std::uint64_t{1} << bits_) - 1;
    for (const auto code : codes) bits.put(static_cast<std::uint64_t>(code) & mask, bits_);
    bits.finish();
  }
  // Nothing, if there are not just so many.
  std::optional<std::vector<Code>> get_codes(byte_reader& in, std::size_t count) const {
    if (fills()) {
      auto codes = in.get_all<Code>(count);
      return in.finished() ? std::optional(std::move(codes)) : std::nullopt;
    }
    const auto packed = in.get_all<std::byte>(in.remaining());
    if (packed.size() != (count * static_cast<std::size_t>(bits_) + 7) / 8) return std::nullopt;
    bit_reader bits(packed);
    std::vector<Code> codes;
    codes.reserve(count);
    const auto sign = std::uint64_t{1} << (bits_ - 1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto raw = bits.get(bits_);  // its highest bit is the sign
      codes.push_back(static_cast<Code>(static_cast<std::int64_t>(raw ^ sign) -
                                        static_cast<std::int64_t>(sign)));
    }
    return codes;
  }

  // Each run as long as it can be.
  template <class T>
  bool linear_runs(span<const T> in, std::size_t from, std::size_t columns,
                   std::vector<Code>& codes) {
    std::size_t begin = from;
    int low = std::numeric_limits<int>::max();
    double largest = 0;
    double limit = 0;  // what fits beside the lowest bit
    const auto close = [&](std::size_t end) {
      const int exponent = largest > 0 ? low : 0;
      if (exponent < std::numeric_limits<std::int16_t>::min()) return;
      const double inverse = std::ldexp(1.0, -exponent);
      std::uint32_t length = 0;
      for (auto i = begin; i < end; i += columns, ++length)
        codes.push_back(in[i] == 0 && std::signbit(in[i])
                            ? minus_zero_
                            : static_cast<Code>(static_cast<double>(in[i]) * inverse));
      runs_.push_back({run_kind::linear, static_cast<std::int16_t>(exponent), length});
    };
    for (auto i = from; i < in.size(); i += columns) {
      const auto x = static_cast<double>(in[i]);
      if (x == 0) continue;
      if (!std::isfinite(x)) return false;
      const int its_low = lowest_bit(x);
      if (its_low < -1000) return false;  // whose unit has no inverse; and none was rounded to
      if (its_low >= low && std::fabs(x) <= limit) {
        largest = std::max(largest, std::fabs(x));
        continue;
      }
      const int new_low = std::min(low, its_low);
      const double new_largest = std::max(largest, std::fabs(x));
      if (new_largest <= std::ldexp(static_cast<double>(most_), new_low)) {
        low = new_low;
        largest = new_largest;
        limit = std::ldexp(static_cast<double>(most_), low);
        continue;
      }
      if (std::fabs(x) > std::ldexp(static_cast<double>(most_), its_low)) return false;
      if (runs_.size() > 8 + in.size() / 64) return false;  // these were not rounded
      close(i);
      begin = i;
      low = its_low;
      largest = std::fabs(x);
      limit = std::ldexp(static_cast<double>(most_), low);
    }
    if (begin < in.size()) close(in.size());
    return true;
  }

  template <class T>
  bool power_runs(span<const T> in, std::size_t from, std::size_t columns,
                  std::vector<Code>& codes) {
    const auto& table = powers<form<Code>::steps>::table();
    std::vector<int> steps;
    constexpr int none = std::numeric_limits<int>::min();
    for (auto i = from; i < in.size(); i += columns) {
      const T x = in[i];
      if (x == 0 && !std::signbit(x)) {
        steps.push_back(none);
        continue;
      }
      if (!(x > 0) || !std::isfinite(x)) return false;
      const int q = table.above(x);
      if (table.template at<T>(q) != x) return false;
      steps.push_back(q);
    }
    for (std::size_t begin = 0; begin < steps.size();) {
      int least = std::numeric_limits<int>::max(), largest = none;
      auto end = begin;
      for (; end < steps.size(); ++end) {
        if (steps[end] == none) continue;
        const int new_least = std::min(least, steps[end]),
                  new_largest = std::max(largest, steps[end]);
        if (new_largest - new_least >= most_power_) break;
        least = new_least;
        largest = new_largest;
      }
      if (largest == none) least = 0;
      if (least < std::numeric_limits<std::int16_t>::min() ||
          least > std::numeric_limits<std::int16_t>::max())
        return false;
      for (auto i = begin; i < end; ++i)
        codes.push_back(steps[i] == none ? Code{0} : static_cast<Code>(steps[i] - least + 1));
      runs_.push_back({run_kind::power, static_cast<std::int16_t>(least),
                       static_cast<std::uint32_t>(end - begin)});
      begin = end;
    }
    return true;
  }

  template <class T>
  undone unpack(payload& message, const std::string& notes) {
    byte_reader note({reinterpret_cast<const std::byte*>(notes.data()), notes.size()});
    const auto count = note.get_short();
    const auto columns = columns_of(place_);
    if (!note.finished() || count / 4 > message.values.size() || count % columns != 0 ||
        count > blob::max_size / sizeof(T))
      return undone::damaged;
    byte_reader in({message.values.data(), message.values.size()});
    std::vector<std::vector<run>> runs(columns);
    for (auto& of : runs) {
      const auto number = in.get_short();
      if (number > in.remaining() / 3) return undone::damaged;
      std::uint64_t left = count / columns;
      for (std::uint64_t r = 0; r < number; ++r) {
        const auto kind = in.get<std::uint8_t>();
        const auto exponent = in.get<std::int16_t>();
        const auto length = r + 1 < number ? in.get_short() : left;
        if (kind > 1 || length > left) return undone::damaged;
        of.push_back({static_cast<run_kind>(kind), exponent, static_cast<std::uint32_t>(length)});
        left -= length;
      }
      if (left > 0) return undone::damaged;
    }
    const auto codes = get_codes(in, count);
    if (!codes) return undone::damaged;
    if (count == 0) {
      message.values = {};
      return undone::done;
    }
    auto [bytes, out] = blob::uninitialised(count * sizeof(T));
    auto* numbers = reinterpret_cast<T*>(out);
    const auto& table = powers<form<Code>::steps>::table();
    std::size_t next = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      auto* to = numbers + c;
      for (const auto& r : runs[c]) {
        const double unit = std::ldexp(1.0, r.exponent);
        for (std::uint32_t i = 0; i < r.length; ++i, to += columns) {
          const Code code = (*codes)[next++];
          if (r.kind == run_kind::linear) {
            const bool minus_zero = code == minus_zero_;
            *to = minus_zero ? -T(0) : static_cast<T>(static_cast<double>(code) * unit);
          } else {
            const int step = static_cast<int>(static_cast<std::make_unsigned_t<Code>>(code)) &
                             ((1 << bits_) - 1);
            *to = step == 0 ? T(0) : table.template at<T>(r.exponent + step - 1);
          }
          if (!std::isfinite(*to)) return undone::damaged;
        }
      }
    }
    message.values = std::move(bytes);
    return undone::done;
  }

  const filter_place place_;
  const int bits_;
  const int most_, most_power_;  // codes of powers begin with 1
  const Code minus_zero_;
  std::vector<run> runs_;
};

template <class Code>
filter_entry entry_of(const char* name) {
  filter_entry entry;
  entry.name = name;
  constexpr double bits = 8 * sizeof(Code);
  entry.parameters = {{"block", 256, 1, 1e9}, {"bits", bits, bits / 2, bits}};
  entry.make_value = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<fixed_rounding<Code>>(n, p);
  };
  entry.make_transmission = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<fixed_packing<Code>>(n, p);
  };
  return entry;
}

}  // namespace

filter_entry fixed8_entry() {
  return entry_of<std::int8_t>("fixed8");
}
filter_entry fixed16_entry() {
  return entry_of<std::int16_t>("fixed16");
}

}  // namespace troupe
