#include <algorithm>
#include <cmath>

#include "actors/server/functions/gradient_functions.hpp"
#include "actors/server/functions/penalty.hpp"

namespace troupe {
namespace {

// The step of a block of coordinates: Li et al., OSDI 2014, section 5.1, with the diagonal upper
// bound of the curvature that is pushed beside the gradient.
//
//   pushed      g, u     gradient of the losses, and a bound of their second derivative that holds
//               while no value of the block moves further than its region
//   region      per value, shown to slots: how far it may move at once. Twice its last step, but
//               not less than half of what it was (Genkin, Lewis and Madigan 2007, section 3.2)
//   told[0]     slack; if it is given, a value of zero that would stay so even if its gradient were
//               larger by that much becomes the negative zero: at rest (the KKT condition
//               holds with a margin). Slots may leave it out of later pushes.
//
// With momentum the value is carried on past the proximal point, in the direction of its last move
// (Nesterov; as Beck and Teboulle 2009, (4.1)-(4.3)); each value has its own speed, which is halved
// when a step goes against the motion (O'Donoghue and Candes 2015, section 3.2, value by value, so
// that no sum over servers is needed).
template <class T>
class block_proximal final : public server_function<T> {
 public:
  explicit block_proximal(const function_numbers& numbers)
      : numbers_(numbers),
        first_region_(static_cast<T>(numbers.at("region"))),
        least_region_(static_cast<T>(numbers.at("least_region"))),
        carry_(static_cast<T>(numbers.at("carry"))),
        damping_(static_cast<T>(numbers.at("damping"))) {}

  void apply(const row_block<T>& b, const step& now) override {
    const penalty<T> p(numbers_, now);
    const bool marks = now.told.size() > 0;
    const T slack = marks ? static_cast<T>(now.told[0]) : T(0);
    T* __restrict y = b.values;
    const T* __restrict pushed = b.pushed;
    T* __restrict region = b.per_value[0];
    T* __restrict point = b.per_value[1];
    T* __restrict speed = b.per_value[2];
    T* __restrict violation = b.per_value[3];
    for (std::size_t i = 0; i < b.size(); ++i) {
      const T old = y[i];
      const T g = p.gradient(pushed[2 * i], old);
      const T u = std::max(pushed[2 * i + 1] * damping_ + p.l2, least_curvature);
      const T r = region[i] > 0 ? region[i] : first_region_;
      const T there = soft(old - g / u, p.l1 / u);
      const T next = std::clamp(there, old - r, old + r);
      const T size = std::fabs(g);
      violation[i] = old > 0   ? std::fabs(g + p.l1)
                     : old < 0 ? std::fabs(g - p.l1)
                               : std::max(size - p.l1, T(0));
      const T move = next - point[i];
      speed[i] = (old - next) * move > 0 ? std::floor(speed[i] / 2) : speed[i] + 1;
      const T on = next + carry_ * speed[i] / (speed[i] + 3) * move;
      const bool rests = marks && next == 0 && size < p.l1 - slack;
      // Not past zero, where the penalty has its kink.
      y[i] = next == 0 ? (rests ? -T(0) : T(0)) : on * next > 0 ? on : next;
      point[i] = next;
      region[i] = std::max(least_region_, std::max(2 * std::fabs(next - old), r / 2));
    }
  }

 private:
  // Where nothing curves the step ends at its region.
  static constexpr T least_curvature = T(1e-12);
  const function_numbers numbers_;
  const T first_region_, least_region_, carry_, damping_;
};

}  // namespace

function_entry block_proximal_entry() {
  auto entry = entry_of<block_proximal>("block_proximal");
  entry.parameters = {{"region", 0.1, 1e-6, 1e6},
                      {"least_region", 1e-3, 1e-9, 1e6},
                      {"carry", 1, 0, 1},
                      {"damping", 1, 1, 1e6}};
  entry.state.per_value = 4;
  entry.pushes = 2;
  entry.shows = 1;
  entry.largest = 3;
  entry.penalises = true;
  return entry;
}

}  // namespace troupe
