#include "sim/cost/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/random.hpp"

namespace troupe::sim {
namespace {

double draw(const straggler_rule& rule, random_source& random) {
  switch (rule.distribution) {
    case slowdown::exponential:
      return 1 - (rule.factor - 1) * math::log(1 - random.unit());
    case slowdown::pareto:
      // scale / u^(1/shape), whose mean is scale * shape / (shape - 1).
      return std::max(1.0, rule.factor * (rule.shape - 1) / rule.shape *
                               math::pow(1 - random.unit(), -1 / rule.shape));
    case slowdown::constant:
      break;
  }
  return rule.factor;
}

}  // namespace

cost_model::node_state& cost_model::at(node_number n) {
  if (n >= nodes_.size()) nodes_.resize(n + 1);
  return nodes_[n];
}

void cost_model::set_speed(node_number n, double factor) {
  at(n).speed = factor;
}

void cost_model::add_straggler(node_number n, const straggler_rule& rule) {
  at(n).stragglers.push_back(rule);
}

void cost_model::set_stragglers(node_number n, std::vector<straggler_rule> rules) {
  at(n).stragglers = std::move(rules);
}

duration cost_model::of_turn(node_number n, const turn_facts& turn) {
  auto& node = at(n);
  double ns = price_.message_sent * static_cast<double>(turn.sent) +
              price_.message_received * static_cast<double>(turn.received);
  for (std::size_t kind = 0; kind < kinds_of_work; ++kind)
    ns += price_.of_work[kind] * static_cast<double>(turn.work[kind]);
  if (turn.work[static_cast<std::size_t>(work::examples)] > 0) {
    ns *= slow_factor(n, node, node.clocks++);
    ++clocks_;
  }
  return duration(std::llround(ns / node.speed));
}

double cost_model::slow_factor(node_number n, const node_state& of, std::uint64_t clock) const {
  double slower = 1;
  for (std::size_t rule = 0; rule < of.stragglers.size(); ++rule) {
    random_source random(seed_of(seed_, n, clock, rule));
    if (random.unit() < of.stragglers[rule].probability)
      slower *= draw(of.stragglers[rule], random);
  }
  return slower;
}

}  // namespace troupe::sim
