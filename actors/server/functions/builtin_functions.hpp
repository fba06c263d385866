#pragma once
// The functions that every registry of the project begins with. Pushed values g are gradients of a
// sum of losses, in the direction of ascent; w are a row's values; r is the schedule's rate; s is
// the step's share of the data.
//
//   add       w += g
//   assign    w = g; not additive
//   sgd       d = g; e = r
//   momentum  m = momentum * m + g; d = m; e = r
//             "heavy ball", Polyak 1964
//   nesterov  m = momentum * m + g; d = g + momentum * m; e = r
//             Sutskever et al., ICML 2013, in Bengio's form
//   adagrad   n += g^2; d = g; e = r / (sqrt(n) + epsilon)
//             Duchi et al., JMLR 2011
//   rmsprop   n = decay * n + (1 - decay) * g^2; d = g; e = r / (sqrt(n) + epsilon)
//             Tieleman, Hinton 2012
//   adam      m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2;
//             d = m / (1 - beta1^t); e = r / (sqrt(v / (1 - beta2^t)) + epsilon),
//             where t counts the row's own steps ("lazy")
//             Kingma, Ba, ICLR 2015, algorithm 1
//   ftrl      FTRL-proximal with alpha and beta; state z, n
//             McMahan et al., KDD 2013, algorithm 1
//
// All from sgd to adam take g = pushed + s * l2 * w and end with
//   w = soft(w - e * d, e * s * l1),   soft(x, c) = sign(x) * max(|x| - c, 0),
// a proximal step on what they minimise: the sum of losses + l1 * |w| + l2 / 2 * |w|^2. In one pass
// over the data the shares add up to 1, so a row that every step touches pays each penalty once;
// penalties act on touch, so a row that few steps touch is penalised in proportion to those steps
// only.
//
// ftrl keeps its own account: z sums all gradients of the run, and l1 and l2 stand against that sum
// once. One pass minimises the sum of losses + l1 * |w| + l2 / 2 * |w|^2; in k passes the penalty
// weighs 1 / k of that. Its values start at the table's initial ones, whatever they are, and are
// set by z alone from the first push on.

#include "actors/server/functions/function_registry.hpp"

namespace troupe {

std::vector<function_entry> builtin_functions();

}  // namespace troupe
