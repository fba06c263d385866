// Numbers of 16 bits: bf16 (8 bits of exponent, 8 of precision: relative error at most 2^-9) and
// IEEE's f16 (5 and 11: relative error at most 2^-12 from 6.1e-5 to 65504, absolute error at most
// 3e-8 below; what is larger becomes 65504). Rounded to nearest, ties to even; bounds and lengths
// are rounded up.
//
// What is rounded is again f32 or f64; its transmission takes 2 bytes a number, if all numbers of a
// message are such, and changes nothing else.

#include <cmath>
#include <cstring>
#include <vector>

#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct bf16 {
  static constexpr float most = 3.3895314e38f;  // the largest finite one
  static std::uint16_t nearest(float x) {
    const auto bits = bits_of(x);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
  static float value(std::uint16_t code) { return float_of(std::uint32_t{code} << 16); }
};

struct f16 {
  static constexpr float most = 65504;
  static std::uint16_t nearest(float x) {
    const auto bits = bits_of(x);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const float size = std::fabs(x);
    if (size < 0x1p-14f)  // subnormal: whole multiples of 2^-24
      return static_cast<std::uint16_t>(sign +
                                        static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24f)));
    // Exponent bias 127 becomes 15; 13 bits of the mantissa go.
    const auto magnitude = (bits & 0x7fffffff) - ((127u - 15u) << 23);
    return static_cast<std::uint16_t>(sign | ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13));
  }
  static float value(std::uint16_t code) {
    const std::uint32_t sign = std::uint32_t{code & 0x8000u} << 16;
    const std::uint32_t exponent = (code >> 10) & 0x1f, mantissa = code & 0x3ff;
    if (exponent == 0) {
      const float size = static_cast<float>(mantissa) * 0x1p-24f;
      return sign ? -size : size;
    }
    return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
};

template <class Form>
float rounded(double x, bool up) {
  const double most = static_cast<double>(Form::most);
  const float f = static_cast<float>(x > most ? most : x < -most ? -most : x);
  auto code = Form::nearest(f);
  float y = Form::value(code);
  if (std::fabs(y) > Form::most) y = std::copysign(Form::most, y);
  if (up && static_cast<double>(y) < x && y < Form::most) y = Form::value(code + 1);
  return y;
}

template <class Form, class T>
void round_all(payload& rows, const filter_place& place) {
  const auto in = rows.values.as<T>();
  auto [bytes, out] = blob::uninitialised(rows.values.size());
  auto* to = reinterpret_cast<T*>(out);
  for (std::size_t i = 0; i < in.size(); ++i)
    to[i] =
        static_cast<T>(rounded<Form>(static_cast<double>(in[i]), place.bound(i % place.numbers)));
  rows.values = std::move(bytes);
}

template <class Form>
class rounding final : public value_filter {
 public:
  explicit rounding(const filter_place& place) : place_(place) {}
  void apply(payload& rows, const filter_moment&) override {
    if (rows.values.empty()) return;
    place_.doubles ? round_all<Form, double>(rows, place_) : round_all<Form, float>(rows, place_);
  }

 private:
  const filter_place place_;
};

template <class Form>
class halves final : public transmission_filter {
 public:
  explicit halves(const filter_place& place) : place_(place) {}

  bool encode(payload& message, std::string&) override {
    return !message.values.empty() &&
           (place_.doubles ? pack<double>(message) : pack<float>(message));
  }
  undone decode(payload& message, const std::string&) override {
    if (!message.values.divides<std::uint16_t>()) return undone::damaged;
    const auto codes = message.values.as<std::uint16_t>();
    if (codes.size() > blob::max_size / place_.number_bytes()) return undone::damaged;
    auto [bytes, out] = blob::uninitialised(codes.size() * place_.number_bytes());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const float x = Form::value(codes[i]);
      if (place_.doubles)
        reinterpret_cast<double*>(out)[i] = static_cast<double>(x);
      else
        reinterpret_cast<float*>(out)[i] = x;
    }
    message.values = std::move(bytes);
    return undone::done;
  }

 private:
  template <class T>
  static bool pack(payload& message) {
    const auto in = message.values.as<T>();
    auto [bytes, out] = blob::uninitialised(in.size() * sizeof(std::uint16_t));
    auto* to = reinterpret_cast<std::uint16_t*>(out);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto f = static_cast<float>(in[i]);
      to[i] = Form::nearest(f);
      const T back = static_cast<T>(Form::value(to[i]));
      wrong |= static_cast<std::uint64_t>(std::memcmp(&back, &in[i], sizeof back) != 0);
    }
    if (wrong) return false;
    message.values = std::move(bytes);
    return true;
  }

  const filter_place place_;
};

template <class Form>
filter_entry entry_of(const char* name) {
  filter_entry entry;
  entry.name = name;
  entry.make_value = [](const filter_numbers&, const filter_place& p) {
    return std::make_unique<rounding<Form>>(p);
  };
  entry.make_transmission = [](const filter_numbers&, const filter_place& p) {
    return std::make_unique<halves<Form>>(p);
  };
  return entry;
}

}  // namespace

filter_entry bf16_entry() {
  return entry_of<bf16>("bf16");
}
filter_entry f16_entry() {
  return entry_of<f16>("f16");
}

}  // namespace troupe
