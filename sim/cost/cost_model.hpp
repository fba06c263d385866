#pragma once
// What a node's work takes in virtual time: the counts of its meter, times a price each, divided by
// the node's speed, and now and then made slower by a straggler's draw.
//
// A draw depends on (seed, node, how many clocks the node has computed) alone: a node has the same
// slow clocks whatever the others do, so that runs under different consistency meet the same luck.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/meter.hpp"
#include "core/time.hpp"
#include "sim/network/nodes.hpp"

namespace troupe::sim {

// Nanoseconds on a processor of speed 1.
struct prices {
  std::array<double, kinds_of_work> of_work{};  // by work
  double message_sent = 0, message_received = 0;
};

struct speed_rule {
  node_pattern nodes;
  std::uint32_t every = 1;  // each so many-th of them, the first included
  double factor = 1;        // what they do in a second, measured by the others
};

enum class slowdown { constant, exponential, pareto };

struct straggler_rule {
  node_pattern nodes;
  double probability = 0;  // that a clock's computation is slow
  slowdown distribution = slowdown::constant;
  double factor = 1;  // its mean, at least 1
  double shape = 2;   // of pareto, above 1
};

// A seam for calibration, which wants to know what each turn of a node did.
struct turn_facts {
  std::array<std::uint64_t, kinds_of_work> work{};
  std::uint64_t sent = 0, received = 0;  // messages
};

class cost_model {
 public:
  cost_model(prices price, std::uint64_t seed) : price_(price), seed_(seed) {}

  // Which nodes the rules are for.
  void set_speed(node_number n, double factor);
  void add_straggler(node_number n, const straggler_rule& rule);
  void set_stragglers(node_number n, std::vector<straggler_rule> rules);

  // How long a node's turn takes. A turn that computed examples counts as one clock of the node.
  duration of_turn(node_number n, const turn_facts& turn);
  std::uint64_t clocks() const { return clocks_; }  // of all nodes

 private:
  struct node_state {
    double speed = 1;
    std::vector<straggler_rule> stragglers;
    std::uint64_t clocks = 0;
  };
  node_state& at(node_number n);
  double slow_factor(node_number n, const node_state& of, std::uint64_t clock) const;

  const prices price_;
  const std::uint64_t seed_;
  std::vector<node_state> nodes_;
  std::uint64_t clocks_ = 0;
};

}  // namespace troupe::sim
