#pragma once
// Carries a plan's strikes out on a cluster in virtual time, each at its moment or state, within
// the budget: unless loss is expected, no fault takes the last living copy of a shard.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "apps/chaos/outcome.hpp"
#include "apps/chaos/strike.hpp"
#include "apps/virtual/virtual_stage.hpp"

namespace troupe::chaos {

class virtual_faults {
 public:
  struct settings {
    std::uint64_t seed = 1;
    bool may_lose = false;
    duration death_after{};
    std::string checkpoints;  // their folder
    std::shared_ptr<file_system> files;
    std::function<void(violation)> on_violation;
    // Told when a trouble has ended, or may still come.
    std::function<void(instant)> on_trouble_until;
  };
  virtual_faults(const plan& p, cast who, virtual_stage& stage, settings s);

  // A slot's own fault has struck: it is struck by its clock, not at a moment.
  void on_own_fault(fault_kind kind, std::uint32_t slot, std::uint64_t clock);
  std::vector<struck> take_faults(instant end);
  coverage take_coverage() { return std::move(covered_); }
  std::size_t in_force() const;

 private:
  struct active {           // a strike that was carried out
    std::size_t fault = 0;  // in faults_
    const strike* what = nullptr;
    std::vector<sim::node_number> nodes;
    std::function<void()> end;  // empty: nothing is to be done
    instant until;
    bool over = false;
  };
  struct change_of_link {
    sim::node_number from, to;
    std::function<void(sim::link_settings&)> apply;
    const active* of = nullptr;
  };

  void on_landmark(sim::node_number n, const char* which);
  // Whether it could be begun now; else it may be later.
  bool try_strike(const strike& s, int tries, std::optional<sim::node_number> at_state);
  void begin(const strike& s, std::vector<sim::node_number> nodes);
  void end(active& a);
  void carry_out(active& a);
  void on_nodes(active& a, const std::function<void(sim::node_number)>& begin,
                const std::function<void(sim::node_number)>& end);
  void change_links(active& a, bool both_ways, bool data_only,
                    const std::function<void(sim::link_settings&)>& apply);
  void relink(sim::node_number from, sim::node_number to);
  void meddle();
  void partition(active& a);
  void set_disk(active& a, bool sim::disk_trouble::*what);
  std::vector<sim::node_number> numbers_of(const nodes_meant& meant) const;
  // Servers that would be out of reach, or gone.
  std::set<sim::node_number> takes(const strike& s,
                                   const std::vector<sim::node_number>& nodes) const;
  bool affordable(const std::set<sim::node_number>& servers) const;
  // Whether the scheduler may have made a newer view than the one it told of last.
  bool view_may_be_old() const { return stage_.status_at() <= view_made_at_; }
  void withhold(const strike& s, const char* why);
  static constexpr sim::node_number bridge = 1;  // reaches both halves
  bool is_server(sim::node_number n) const { return n >= 1 && n <= who_.servers_in_all; }
  std::string name(sim::node_number n) const { return to_string(stage_.cast().role(n)); }

  const plan& plan_;
  const cast who_;
  virtual_stage& stage_;
  const settings s_;
  random_source random_;
  std::vector<std::unique_ptr<active>> active_;
  std::vector<struck> faults_;
  std::vector<change_of_link> changes_;
  std::map<std::size_t, std::uint32_t> passed_;    // by strike: how often its state was passed
  std::map<sim::node_number, instant> out_until_;  // servers that were out, and are not trusted yet
  std::map<sim::node_number, sim::disk_trouble> troubles_;
  std::set<sim::node_number> begun_;  // of those that join later
  instant view_made_at_{-1};
  bool shards_move_ = false;  // servers leave chains alive: one was drained, or has joined
  coverage covered_;
};

}  // namespace troupe::chaos
