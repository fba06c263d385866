#include "apps/chaos/local_target.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "apps/chaos/judge.hpp"
#include "apps/chaos/scenario_cluster.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "apps/local/local_cluster.hpp"
#include "core/file.hpp"

namespace troupe::chaos {
namespace {

instant now_of_machine() {
  return {std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

// What this process's cluster can be told to do beforehand.
std::vector<planned_event> events_of(const plan& p, double stretch) {
  std::vector<planned_event> events;
  const auto stretched = [stretch](duration d) {
    return duration(static_cast<std::int64_t>(static_cast<double>(d.count()) * stretch));
  };
  using kind = planned_event::kind;
  for (const auto& s : p.strikes)
    for (const auto id : s.node.nodes) {
      const auto at = stretched(s.at);
      if (s.kind == fault_kind::kill) {
        events.push_back({kind::kill, id, at});
        if (s.lasts > duration::zero())
          events.push_back({kind::start, id, at + stretched(s.lasts)});
      } else if (s.kind == fault_kind::join) {
        events.push_back({kind::start, id, at});
      } else if (s.kind == fault_kind::drain) {
        events.push_back({kind::drain, id, at});
      } else if (s.kind == fault_kind::rebalance) {
        events.push_back({kind::rebalance, id, at});
      }
    }
  std::stable_sort(events.begin(), events.end(),
                   [](const planned_event& a, const planned_event& b) { return a.at < b.at; });
  return events;
}

}  // namespace

result<run_outcome> run_in_one_process(const config::Scenario& scenario,
                                       const std::string& folder) {
  const auto faults = plan_of(scenario, target::in_one_process);
  if (!faults) return faults.failure();
  if (scenario.workload().restore_at_size() > 0)
    return error{errc::bad_config,
                 "workload.restore_at: only in virtual time can a whole cluster lose power"};
  const auto files = posix_file_system();
  if (auto made = files->create_folders(folder); !made) return made.failure();
  auto made = make_workload(scenario);
  if (!made) return made.failure();
  const std::shared_ptr<const workload> what = std::move(*made);
  std::shared_ptr<const history_check> calm;
  if (what->wants_calm_run()) {
    auto without = calm_check(scenario);
    if (!without) return without.failure();
    calm = std::move(*without);
  }
  judge by(scenario, what, calm);
  const auto begun = now_of_machine();
  const auto now = [begun] { return instant{(now_of_machine() - begun).count()}; };
  auto seen = live_ledger(now, [&by](const ledger_entry& e) { by.on(e); });
  const auto stretch = scenario.scenario().stretch();
  auto cluster = cluster_of(scenario, *faults, what, seen, {stretch, folder, files});
  cluster.events = events_of(*faults, stretch);
  std::mutex own_guard;  // slots' own faults strike in their workers' threads
  std::map<std::tuple<fault_place, std::uint32_t, std::uint64_t>, instant> own;
  cluster.worker.faults->tell([&](const fault& f) {
    std::lock_guard guard(own_guard);
    own.emplace(std::tuple(f.where, f.slot, f.clock), now());
  });
  const auto limit = duration(static_cast<std::int64_t>(
      static_cast<double>((faults->healed + duration(scenario.scenario().deadline())).count()) *
      stretch));
  bool late = false;
  cluster.watch = [&](const pb::JobStatus&) {
    late = late || now() >= instant{limit.count()};
    return late;
  };
  const auto status = run_local_cluster(cluster);
  run_outcome o;
  for (const auto id : cast_of(scenario).all()) o.nodes.push_back(to_string(id));
  const auto ended = now();
  for (const auto& s : faults->strikes) {
    struck f;
    f.text = describe(s);
    f.kind = s.kind;
    f.from = duration(static_cast<std::int64_t>(static_cast<double>(s.at.count()) * stretch));
    f.to = f.from +
           duration(static_cast<std::int64_t>(static_cast<double>(s.lasts.count()) * stretch));
    for (const auto id : s.node.nodes) f.nodes.push_back(to_string(id));
    if (s.kind == fault_kind::not_a_number || s.kind == fault_kind::throws) {
      const auto where =
          s.kind == fault_kind::throws ? fault_place::compute : fault_place::not_a_number;
      const auto struck = own.find({where, s.how.slot(), s.how.clock()});
      if (struck == own.end())
        f.withheld = "the slot had no such clock";
      else
        f.from = f.to = struck->second - instant{};
    }
    if (f.from > ended - instant{}) f.withheld = "the job had ended";
    o.faults.push_back(std::move(f));
  }
  by.end(status, !late, ended, o);
  if (o.ok()) (void)files->remove(folder).ok();
  return o;
}

}  // namespace troupe::chaos
