#pragma once
// The penalty l1 * sum |w| + l2 / 2 * sum w^2 as updaters apply it: l2 as a part of the gradient,
// l1 by a proximal step.

#include <cmath>

#include "actors/server/functions/function_registry.hpp"

namespace troupe {

// sign(x) * max(|x| - by, 0), without a branch; never the negative zero.
template <class T>
T soft(T x, T by) {
  const T rest = std::fabs(x) - by;
  return rest > 0 ? std::copysign(rest, x) : T(0);
}

// The penalties of one step.
template <class T>
struct penalty {
  penalty(const function_numbers& numbers, const step& now)
      : l1(static_cast<T>(numbers.l1 * now.share)), l2(static_cast<T>(numbers.l2 * now.share)) {}

  T gradient(T pushed, T w) const { return pushed + l2 * w; }
  T stepped(T w, T rate, T direction) const { return soft(w - rate * direction, rate * l1); }

  T l1, l2;
};

}  // namespace troupe
