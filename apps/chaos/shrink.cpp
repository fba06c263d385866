#include "apps/chaos/shrink.hpp"

#include <algorithm>
#include <set>

#include "apps/chaos/strike.hpp"
#include "core/text.hpp"

namespace troupe::chaos {
namespace {

class shrinker {
 public:
  shrinker(config::Scenario s, const shrinking& how) : best_(std::move(s)), how_(how) {}

  config::Scenario run() {
    for (bool smaller = true; smaller && !spent();) {
      smaller = fewer_faults();
      smaller |= fewer_filters();
      smaller |= shorter();
      smaller |= fewer_nodes();
      smaller |= simpler();
    }
    return best_;
  }
  std::size_t runs() const { return runs_; }

 private:
  bool spent() const { return runs_ >= how_.most_runs; }
  bool accept(const config::Scenario& candidate) {
    if (spent()) return false;
    ++runs_;
    if (!how_.breaks(candidate)) return false;
    best_ = candidate;
    return true;
  }
  template <class Change>
  bool try_change(Change change) {
    auto candidate = best_;
    change(candidate);
    return candidate.SerializeAsString() != best_.SerializeAsString() && accept(candidate);
  }

  bool fewer_faults() {
    bool any = false;
    for (auto size = std::max(1, best_.faults_size()); size >= 1; size /= 2)
      for (int from = 0; from < best_.faults_size();) {
        const auto left_out = std::min(size, best_.faults_size() - from);
        const bool gone = try_change(
            [&](config::Scenario& s) { s.mutable_faults()->DeleteSubrange(from, left_out); });
        any |= gone;
        if (!gone) from += size;
      }
    any |= try_change([](config::Scenario& s) { s.mutable_workload()->clear_restore_at(); });
    return any;
  }

  // A chain that has lost some is still in a right order.
  bool fewer_filters() {
    bool any = try_change([](config::Scenario& s) {
      s.mutable_filters()->clear_push();
      s.mutable_filters()->clear_pull();
    });
    for (const bool pulls : {false, true}) {
      const auto chain = [pulls](config::Scenario& s) {
        return pulls ? s.mutable_filters()->mutable_pull() : s.mutable_filters()->mutable_push();
      };
      for (int i = 0; i < chain(best_)->size();) {
        const bool gone = try_change([&](config::Scenario& s) { chain(s)->DeleteSubrange(i, 1); });
        any |= gone;
        if (!gone) ++i;
      }
    }
    return any;
  }

  bool shorter() {
    bool any = false;
    while (best_.workload().clocks() > 2 && try_change([](config::Scenario& s) {
             s.mutable_workload()->set_clocks(s.workload().clocks() / 2);
           }))
      any = true;
    while (best_.workload().keys() > 1 && try_change([](config::Scenario& s) {
             s.mutable_workload()->set_keys(s.workload().keys() / 2);
           }))
      any = true;
    while (best_.workload().key_space() > 1 && try_change([](config::Scenario& s) {
             s.mutable_workload()->set_key_space(s.workload().key_space() / 2);
           }))
      any = true;
    return any;
  }

  // Only from the end: others keep their numbers.
  bool fewer_nodes() {
    bool any = false;
    const auto fewer = [&](auto get, auto set, std::uint32_t least) {
      while (get(best_) > least &&
             try_change([&](config::Scenario& s) { set(*s.mutable_cluster(), get(s) - 1); }))
        any = true;
    };
    fewer([](const auto& s) { return s.cluster().slots(); },
          [](auto& c, std::uint32_t n) { c.set_slots(n); }, 1);
    fewer([](const auto& s) { return s.cluster().workers(); },
          [](auto& c, std::uint32_t n) { c.set_workers(n); }, 1);
    fewer([](const auto& s) { return s.cluster().servers(); },
          [](auto& c, std::uint32_t n) { c.set_servers(n); }, best_.cluster().copies() + 1);
    return any;
  }

  bool simpler() {
    bool any =
        try_change([](config::Scenario& s) { s.mutable_cluster()->set_checkpoint_every(0); });
    any |= try_change([](config::Scenario& s) { s.mutable_network()->set_jitter(0); });
    any |= try_change([](config::Scenario& s) { s.mutable_workload()->set_key_sets(0); });
    for (int i = 0; i < best_.faults_size(); ++i)
      any |= best_.faults(i).occurrence() > 1 &&
             try_change([i](config::Scenario& s) { s.mutable_faults(i)->set_occurrence(1); });
    return any;
  }

  config::Scenario best_;
  const shrinking& how_;
  std::size_t runs_ = 0;
};

}  // namespace

config::Scenario made_explicit(const config::Scenario& scenario) {
  const auto planned = plan_of(scenario, target::in_virtual_time);
  if (!planned) return scenario;
  auto s = scenario;
  s.clear_faults();
  const auto name = [](const nodes_meant& meant, const std::string& as_written) {
    return meant.nodes.size() == 1 ? to_string(meant.nodes.front()) : as_written;
  };
  for (const auto& one : planned->strikes) {
    auto& f = *s.add_faults();
    f = one.how;
    f.set_node(name(one.node, one.how.node()));
    f.set_peer(name(one.peer, one.how.peer()));
    f.set_at(one.at.count());
    f.set_lasts(one.lasts.count());
    f.set_every(0);
  }
  return s;
}

config::Scenario shrink(const config::Scenario& scenario, const shrinking& how, std::size_t* runs) {
  shrinker s(scenario, how);
  auto smallest = s.run();
  if (runs != nullptr) *runs = s.runs();
  smallest.mutable_expect()->set_least_faults(0);
  return smallest;
}

}  // namespace troupe::chaos
