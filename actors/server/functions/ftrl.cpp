#include <cmath>

#include "actors/server/functions/gradient_functions.hpp"
#include "actors/server/functions/penalty.hpp"

namespace troupe {
namespace {

// McMahan et al. 2013, algorithm 1: z and n are the state, and the value is their closed form, so
// that a pull is plain.
template <class T>
class ftrl final : public server_function<T> {
 public:
  explicit ftrl(const function_numbers& numbers)
      : alpha_(static_cast<T>(numbers.at("alpha"))),
        beta_(static_cast<T>(numbers.at("beta"))),
        l1_(static_cast<T>(numbers.l1)),
        l2_(static_cast<T>(numbers.l2)) {}

  void apply(const row_block<T>& b, const step&) override {
    const T alpha = alpha_, beta = beta_, l1 = l1_, l2 = l2_;
    T* __restrict w = b.values;
    const T* __restrict g = b.pushed;
    T* __restrict z = b.per_value[0];
    T* __restrict n = b.per_value[1];
    for (std::size_t i = 0; i < b.size(); ++i) {
      const T grown = n[i] + g[i] * g[i];
      const T root = std::sqrt(grown);
      const T sigma = (root - std::sqrt(n[i])) / alpha;
      z[i] = z[i] + g[i] - sigma * w[i];
      n[i] = grown;
      const T curvature = (beta + root) / alpha + l2;
      // Without any curvature nothing was ever pushed but zeros, and z is zero too.
      w[i] = soft(-z[i], l1) / (curvature > 0 ? curvature : T(1));
    }
  }

 private:
  const T alpha_, beta_, l1_, l2_;
};

}  // namespace

function_entry ftrl_entry() {
  auto entry = entry_of<ftrl>("ftrl");
  entry.parameters = {{"alpha", 0.1, 1e-300, 1e6}, {"beta", 1, 0, 1e6}};
  entry.state.per_value = 2;
  entry.penalises = true;
  return entry;
}

}  // namespace troupe
