#include <cmath>
#include <vector>

#include "actors/server/functions/gradient_functions.hpp"
#include "actors/server/functions/penalty.hpp"
#include "core/math.hpp"

namespace troupe {
namespace {

// 1 - beta^t for whole t, from a table where t is small: rows are young or their correction is one.
class correction {
 public:
  explicit correction(double beta) : beta_(beta), table_{0} {
    while (table_.size() < longest && table_.back() < 1) table_.push_back(exact(table_.size()));
  }
  double at(double t) const {
    const auto index = static_cast<std::size_t>(t);
    if (index < table_.size()) return table_[index];
    return table_.back() < 1 ? exact(index) : 1;
  }

 private:
  static constexpr std::size_t longest = 1 << 16;
  double exact(std::size_t t) const { return 1 - math::pow(beta_, static_cast<double>(t)); }
  double beta_;
  std::vector<double> table_;
};

template <class T>
class adam final : public server_function<T> {
 public:
  explicit adam(const function_numbers& numbers)
      : numbers_(numbers),
        beta1_(static_cast<T>(numbers.at("beta1"))),
        beta2_(static_cast<T>(numbers.at("beta2"))),
        epsilon_(static_cast<T>(numbers.at("epsilon"))),
        correct1_(numbers.at("beta1")),
        correct2_(numbers.at("beta2")) {}

  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    for (std::size_t row = 0; row < b.rows; ++row) {
      // A float counts to 2^24 and stays there, where both corrections have long been one.
      T& t = b.per_row[0][row];
      t += 1;
      const T first = static_cast<T>(1 / correct1_.at(static_cast<double>(t)));
      const T second = static_cast<T>(1 / correct2_.at(static_cast<double>(t)));
      update(b, row * b.width, p, static_cast<T>(now.rate), first, second);
    }
  }

 private:
  void update(const row_block<T>& b, std::size_t from, const penalty<T>& p, T rate, T first,
              T second) const {
    T* __restrict w = b.values + from;
    const T* __restrict pushed = b.pushed + from;
    T* __restrict m = b.per_value[0] + from;
    T* __restrict v = b.per_value[1] + from;
    for (std::size_t i = 0; i < b.width; ++i) {
      const T g = p.gradient(pushed[i], w[i]);
      m[i] = beta1_ * m[i] + (T(1) - beta1_) * g;
      v[i] = beta2_ * v[i] + (T(1) - beta2_) * (g * g);
      w[i] = p.stepped(w[i], rate / (std::sqrt(v[i] * second) + epsilon_), m[i] * first);
    }
  }

  const function_numbers numbers_;
  const T beta1_, beta2_, epsilon_;
  const correction correct1_, correct2_;
};

}  // namespace

function_entry adam_entry() {
  constexpr double below_one = 1 - 0x1.0p-53;
  auto entry = entry_of<adam>("adam");
  entry.parameters = {
      {"beta1", 0.9, 0, below_one}, {"beta2", 0.999, 0, below_one}, {"epsilon", 1e-8, 1e-300, 1e6}};
  entry.state.per_value = 2;
  entry.state.per_row = 1;
  entry.uses_rate = true;
  entry.penalises = true;
  return entry;
}

}  // namespace troupe
