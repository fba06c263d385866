#include "actors/server/functions/gradient_functions.hpp"

#include <cmath>

#include "actors/server/functions/penalty.hpp"

namespace troupe {
namespace {

template <class T>
class sgd final : public server_function<T> {
 public:
  explicit sgd(const function_numbers& numbers) : numbers_(numbers) {}
  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    const T rate = static_cast<T>(now.rate);
    T* __restrict w = b.values;
    const T* __restrict g = b.pushed;
    for (std::size_t i = 0; i < b.size(); ++i) w[i] = p.stepped(w[i], rate, p.gradient(g[i], w[i]));
  }

 private:
  const function_numbers numbers_;
};

template <class T, bool look_ahead>
class with_momentum : public server_function<T> {
 public:
  explicit with_momentum(const function_numbers& numbers)
      : numbers_(numbers), momentum_(static_cast<T>(numbers.at("momentum"))) {}
  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    const T rate = static_cast<T>(now.rate), momentum = momentum_;
    T* __restrict w = b.values;
    const T* __restrict pushed = b.pushed;
    T* __restrict m = b.per_value[0];
    for (std::size_t i = 0; i < b.size(); ++i) {
      const T g = p.gradient(pushed[i], w[i]);
      m[i] = momentum * m[i] + g;
      w[i] = p.stepped(w[i], rate, look_ahead ? g + momentum * m[i] : m[i]);
    }
  }

 private:
  const function_numbers numbers_;
  const T momentum_;
};
template <class T>
using momentum = with_momentum<T, false>;
template <class T>
using nesterov = with_momentum<T, true>;

template <class T>
class adagrad final : public server_function<T> {
 public:
  explicit adagrad(const function_numbers& numbers)
      : numbers_(numbers), epsilon_(static_cast<T>(numbers.at("epsilon"))) {}
  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    const T rate = static_cast<T>(now.rate), epsilon = epsilon_;
    T* __restrict w = b.values;
    const T* __restrict pushed = b.pushed;
    T* __restrict n = b.per_value[0];
    for (std::size_t i = 0; i < b.size(); ++i) {
      const T g = p.gradient(pushed[i], w[i]);
      n[i] = n[i] + g * g;
      w[i] = p.stepped(w[i], rate / (std::sqrt(n[i]) + epsilon), g);
    }
  }

 private:
  const function_numbers numbers_;
  const T epsilon_;
};

template <class T>
class rmsprop final : public server_function<T> {
 public:
  explicit rmsprop(const function_numbers& numbers)
      : numbers_(numbers),
        decay_(static_cast<T>(numbers.at("decay"))),
        epsilon_(static_cast<T>(numbers.at("epsilon"))) {}
  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    const T rate = static_cast<T>(now.rate), epsilon = epsilon_, decay = decay_;
    const T fresh = T(1) - decay;
    T* __restrict w = b.values;
    const T* __restrict pushed = b.pushed;
    T* __restrict n = b.per_value[0];
    for (std::size_t i = 0; i < b.size(); ++i) {
      const T g = p.gradient(pushed[i], w[i]);
      n[i] = decay * n[i] + fresh * (g * g);
      w[i] = p.stepped(w[i], rate / (std::sqrt(n[i]) + epsilon), g);
    }
  }

 private:
  const function_numbers numbers_;
  const T decay_, epsilon_;
};

template <template <class> class Function>
function_entry gradient_entry(const char* name, std::uint32_t arrays,
                              std::vector<function_parameter> parameters) {
  auto entry = entry_of<Function>(name);
  entry.parameters = std::move(parameters);
  entry.state.per_value = arrays;
  entry.uses_rate = true;
  entry.penalises = true;
  return entry;
}

constexpr double below_one = 1 - 0x1.0p-53;

}  // namespace

function_entry sgd_entry() {
  return gradient_entry<sgd>("sgd", 0, {});
}
function_entry momentum_entry() {
  return gradient_entry<momentum>("momentum", 1, {{"momentum", 0.9, 0, below_one}});
}
function_entry nesterov_entry() {
  return gradient_entry<nesterov>("nesterov", 1, {{"momentum", 0.9, 0, below_one}});
}
function_entry adagrad_entry() {
  return gradient_entry<adagrad>("adagrad", 1, {{"epsilon", 1e-8, 1e-300, 1e6}});
}
function_entry rmsprop_entry() {
  return gradient_entry<rmsprop>("rmsprop", 1,
                                 {{"decay", 0.9, 0, below_one}, {"epsilon", 1e-8, 1e-300, 1e6}});
}

}  // namespace troupe
