#pragma once
// A cluster in virtual time: the actor system, its nodes' processors and disks, the network between
// them, and the queue of what is still to happen. One thread; a pure function of its settings and
// of what it is asked to do.
//
//   simulation sim(settings, files);
//   sim.start_node(n, [&](std::uint64_t life) { ...spawn, sim.place(n, actor)... });
//   while (!done && sim.step()) {}
//   run_record r = sim.record();

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "actors/supervision/environment.hpp"
#include "sim/cost/cost_model.hpp"
#include "sim/disk/modelled_disk.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/processors.hpp"
#include "sim/engine/virtual_system.hpp"

namespace troupe::sim {

struct simulation_settings {
  cast_of_nodes cast;
  network_settings network;
  prices price;
  std::vector<speed_rule> speeds;
  std::vector<straggler_rule> stragglers;
  host_settings hosts;
  disk_settings disk;
  bool serialise = false;
  std::uint64_t seed = 1;
  trace_sink* trace = nullptr;  // outlives the simulation
  // Called after each turn of a node: what it did. For calibration.
  std::function<void(const turn_facts&)> on_turn;
  std::function<void()> before_turn;
};

class simulation final : private timer_sink {
 public:
  simulation(simulation_settings settings, std::shared_ptr<file_system> files);
  ~simulation() override;

  caf::actor_system& actors() { return system_.actors(); }
  instant now() const { return now_; }

  // What the actors of a node are given.
  environment environment_of(node_number n);
  // How those find actors who belong to no node: they see everything, at no cost.
  std::shared_ptr<const resolver> observers_view() const { return observers_view_; }

  // Begins the node's first life, and later ones after each restart; the callback gets the number
  // of the life, 1 at first, and runs as the node's first turn.
  void start_node(node_number n, std::function<void(std::uint32_t life)> start);
  void place(node_number n, const caf::strong_actor_ptr& actor) { network_.place(n, actor); }
  void publish(node_number n, caf::strong_actor_ptr actor) {
    network_.publish(n, std::move(actor));
  }

  // Goes on to the next event; false when there is none.
  bool step();
  std::uint64_t steps() const { return steps_; }
  // Messages, timers and calls of nodes that are still to come, and handles of actors on other
  // nodes.
  std::size_t waiting() const;
  std::size_t proxies() const { return network_.proxies(); }
  void at(instant t, std::function<void()> what);
  // Runs something, and the actors it wakes, at no cost to anybody.
  void outside(const std::function<void()>& what);

  // Faults. Each is an event of the record. Cuts and pauses add up: each is healed for itself. A
  // node that is down cannot crash, and one that is up cannot restart: nothing happens.
  void cut(node_number from, node_number to, bool both_ways);
  void heal(node_number from, node_number to, bool both_ways);
  void crash(node_number n);
  void restart(node_number n);
  std::uint32_t life(node_number n) const { return network_.life(n); }
  bool down(node_number n) const { return network_.down(n); }
  void pause(node_number n);
  void resume(node_number n);
  void reset(node_number a, node_number b);
  void half_open(node_number a, node_number b);  // `b` has forgotten the connection
  const link_settings& link_of(node_number from, node_number to) {
    return network_.link_of(from, to);
  }
  void set_link(node_number from, node_number to, const link_settings& settings) {
    network_.set_link(from, to, settings);
  }
  void meddle(network::meddling with) { network_.meddle(std::move(with)); }
  void set_speed(node_number n, double factor) { costs_.set_speed(n, factor); }
  void set_stragglers(node_number n, std::vector<straggler_rule> rules) {
    costs_.set_stragglers(n, std::move(rules));
  }
  // From now on the node's clock runs so much faster than the true one; its timers too.
  void set_clock_rate(node_number n, double rate);
  modelled_disk& disk(node_number n) { return *disks_[n]; }

  // Of all workers so far: clocks and examples computed.
  std::uint64_t clocks_computed() const;
  std::uint64_t examples_computed() const;
  recorder& log() { return log_; }
  const topology& map() const { return network_.map(); }
  run_record record();

 private:
  class node_view;
  class node_background;
  struct timer {
    node_number home = 0;
    std::uint32_t life = 0;
    instant due;  // by its node's clock
    caf::strong_actor_ptr receiver;
    caf::mailbox_element_ptr what;
    bool cancellable = false;
  };
  struct call {
    std::function<void()> what;
  };
  struct arrival {
    parcel_ptr of;
  };
  struct turn_over {
    node_number node = 0;
    std::uint32_t life = 0;
  };
  using happening = std::variant<arrival, turn_over, std::unique_ptr<timer>, call>;
  // What a node takes a turn for: a message, a timer, or a job's end or begin.
  using item = std::variant<parcel_ptr, std::unique_ptr<timer>, std::function<void()>>;

  void on_timer(instant due, caf::strong_actor_ptr receiver, caf::mailbox_element_ptr what,
                bool cancellable) override;
  void happen(happening what);
  void prefetch(const happening& soon, bool next) const;
  void fire(std::unique_ptr<timer> t);
  duration work(node_number n, item what, instant now);
  turn_facts take_work_of(node_number n);
  void run_background(node_number n, background::job work, background::job after);
  void run_actors();

  // A node's own clock: what it showed at a true time, and how fast it has gone since.
  struct node_clock {
    instant set_at, showed;
    double rate = 1;
    instant shows(instant truth) const;
    instant truth(instant shown) const;
  };

  const simulation_settings settings_;
  const cast_of_nodes cast_;
  instant now_;
  std::vector<node_clock> clocks_;  // empty: all are right
  event_queue<happening> queue_;
  std::uint64_t steps_ = 0;
  virtual_system system_;
  cost_model costs_;
  topology plan_;  // copied into the network
  recorder log_;
  network network_;
  processors<item> processors_;
  message_kind timer_kind_, job_kind_;
  std::vector<std::shared_ptr<meter>> meters_;
  std::vector<std::array<std::uint64_t, kinds_of_work>> charged_;
  std::vector<std::shared_ptr<modelled_disk>> disks_;
  std::vector<instant> disk_free_;
  std::vector<std::uint32_t> jobs_waiting_;
  std::vector<std::function<void(std::uint32_t)>> starts_;
  std::shared_ptr<const resolver> observers_view_;
};

}  // namespace troupe::sim
