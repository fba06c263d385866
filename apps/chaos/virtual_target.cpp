#include "apps/chaos/virtual_target.hpp"

#include <algorithm>

#include "actors/scheduler/checkpoint_store.hpp"
#include "apps/chaos/judge.hpp"
#include "apps/chaos/scenario_cluster.hpp"
#include "apps/chaos/virtual_faults.hpp"
#include "apps/chaos/workload/table_filters.hpp"
#include "apps/virtual/virtual_cluster.hpp"
#include "apps/virtual/virtual_stage.hpp"
#include "core/text.hpp"
#include "sim/disk/memory_files.hpp"

namespace troupe::chaos {
namespace {

constexpr const char* folder = "/chaos";
// Of the simulator's queue, beside what each node has: more means that something piles up.
constexpr std::size_t most_waiting_of_a_node = 2'000;
constexpr duration between_counts = std::chrono::milliseconds(50);

sim::simulation_settings engine_of(const config::Scenario& s, const cast& who) {
  sim::simulation_settings e;
  e.cast = {who.servers_in_all, who.workers_in_all};
  e.network.between.latency = duration(s.network().latency());
  e.network.between.jitter = duration(s.network().jitter());
  e.network.node_bandwidth = static_cast<double>(s.network().bandwidth());
  e.network.detection = duration(s.network().detection());
  e.price.of_work[static_cast<std::size_t>(work::keys_pushed)] = 100;
  e.price.of_work[static_cast<std::size_t>(work::keys_pulled)] = 50;
  e.price.of_work[static_cast<std::size_t>(work::examples)] = 20'000;
  if (s.workload().kind() == "job") {  // whose examples are rows, and many to a clock
    e.price.of_work[static_cast<std::size_t>(work::examples)] = 100;
    e.price.of_work[static_cast<std::size_t>(work::features)] = 10;
  }
  e.price.message_sent = 1000;
  e.price.message_received = 2000;
  e.disk.latency = std::chrono::microseconds(20);
  e.seed = s.scenario().seed();
  return e;
}

// One life of the cluster: the whole run, or until it all goes down.
class one_life {
 public:
  one_life(const config::Scenario& s, const plan& p, judge& by, run_outcome& into,
           std::shared_ptr<file_system> files, bool stop_at_first)
      : s_(s),
        plan_(p),
        judge_(by),
        into_(into),
        files_(std::move(files)),
        stop_at_first_(stop_at_first),
        who_(cast_of(s)) {}

  virtual_run run(std::shared_ptr<const workload> what, bool resume, std::int32_t more_servers,
                  std::optional<duration> goes_down) {
    who_.servers =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(who_.servers) + more_servers);
    who_.servers_in_all =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(who_.servers_in_all) + more_servers);
    auto seen = live_ledger([this] { return now(); },
                            [this](const ledger_entry& e) {
                              judge_.on(e);
                              stop_if_broken();
                            });
    const auto cluster =
        cluster_of(s_, plan_, what, seen, {1, folder, files_, resume, more_servers});
    cluster.worker.faults->tell([this](const fault& f) {
      if (faults_)
        faults_->on_own_fault(
            f.where == fault_place::not_a_number ? fault_kind::not_a_number : fault_kind::throws,
            f.slot, f.clock);
    });
    virtual_settings v;
    v.engine = engine_of(s_, who_);
    v.watch_every = std::chrono::milliseconds(1);
    v.time_limit = plan_.healed + duration(s_.scenario().deadline());
    for (const auto id : who_.all())
      if (who_.joins_later(id)) v.absent.push_back(v.engine.cast.number(id));
    v.direct = [&](virtual_stage& stage) { direct(stage, goes_down); };
    auto ended =
        run_virtual_cluster(cluster, v, {}, [this](const pb::JobStatus& status, instant at) {
          judge_.on_status(status, at);
          return false;
        });
    for (auto& f : faults_->take_faults({ended.record.virtual_time.count()}))
      into_.faults.push_back(std::move(f));
    for (const auto& [cell, count] : faults_->take_coverage()) into_.covered[cell] += count;
    for (const auto& [state, count] : ended.landmarks) into_.states[state] += count;
    for (const auto& e : ended.record.events) into_.happenings.push_back({e.at, e.node, e.text});
    for (const auto& e : ended.status.events())
      into_.happenings.push_back({duration(e.at_ns()), "scheduler", e.text()});
    into_.nodes.clear();
    for (const auto& n : ended.record.nodes) into_.nodes.push_back(n.name);
    return ended;
  }
  bool went_down() const { return went_down_; }

 private:
  instant now() const { return stage_ == nullptr ? instant{} : stage_->sim().now(); }
  void stop_if_broken() {
    if (stop_at_first_ && stage_ != nullptr && judge_.broken()) stage_->set_time_limit(now());
  }

  void direct(virtual_stage& stage, std::optional<duration> goes_down) {
    stage_ = &stage;
    virtual_faults::settings f;
    f.seed = s_.scenario().seed();
    f.may_lose = s_.expect().loss();
    f.death_after = duration(s_.cluster().death_after());
    f.checkpoints = folder;
    f.files = files_;
    f.on_violation = [this](violation v) {
      judge_.report(std::move(v));
      stop_if_broken();
    };
    f.on_trouble_until = [this](instant t) {
      trouble_until_ = std::max(trouble_until_, t);
      stage_->set_time_limit(std::max(instant{plan_.healed.count()}, trouble_until_) +
                             duration(s_.scenario().deadline()));
      stop_if_broken();
    };
    faults_ = std::make_unique<virtual_faults>(plan_, who_, stage, std::move(f));
    stage.sim().at(instant{between_counts.count()}, [this] { count(); });
    if (goes_down)
      stage.sim().at(instant{goes_down->count()}, [this] {
        went_down_ = true;
        for (sim::node_number n = 0; n < stage_->cast().size(); ++n) stage_->sim().crash(n);
        look_for_checkpoint();
        stage_->set_time_limit(now());
      });
  }

  // One that counted must have survived, unless a fault was made to spoil it.
  void look_for_checkpoint() {
    for (const auto& f : plan_.strikes)
      if (f.kind == fault_kind::bit_flip || f.kind == fault_kind::truncate ||
          f.kind == fault_kind::lost_sync)
        return;
    const auto counted = stage_->status() ? stage_->status()->checkpoint() : 0;
    if (counted == 0) return;
    const auto latest = checkpoint_store(files_, folder).latest();
    const auto found = latest && *latest ? (*latest)->manifest.number() : 0;
    if (found < counted)
      judge_.report(
          {"a checkpoint that counts survives a power cut",
           format("checkpoint %llu counted, and of those that are whole the latest is %llu",
                  static_cast<unsigned long long>(counted), static_cast<unsigned long long>(found)),
           now()});
  }

  void count() {
    const auto most = most_waiting_of_a_node * stage_->cast().size();
    if (const auto waiting = stage_->sim().waiting(); waiting > most)
      judge_.report(
          {"queues stay bounded",
           format("%zu messages and timers wait for %u nodes", waiting, stage_->cast().size()),
           now()});
    stop_if_broken();
    stage_->sim().at(now() + between_counts, [this] { count(); });
  }

  const config::Scenario& s_;
  const plan& plan_;
  judge& judge_;
  run_outcome& into_;
  const std::shared_ptr<file_system> files_;
  const bool stop_at_first_;
  cast who_;
  virtual_stage* stage_ = nullptr;  // while the cluster lives
  std::unique_ptr<virtual_faults> faults_;
  instant trouble_until_;
  bool went_down_ = false;
};

run_outcome played(const config::Scenario& s, const plan& p, std::shared_ptr<const workload> what,
                   judge& by, const virtual_options& options) {
  run_outcome outcome;
  const auto files = sim::memory_files();
  (void)files->create_folders(folder).ok();
  running_hash digests;
  std::vector<std::optional<duration>> lives;
  for (const auto at : s.workload().restore_at()) lives.emplace_back(duration(at));
  lives.emplace_back(std::nullopt);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    one_life life(s, p, by, outcome, files, options.stop_at_first);
    const bool resumed = i > 0 && files->list(folder) && [&] {
      const auto names = *files->list(folder);
      return std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.rfind("checkpoint-", 0) == 0 && name.find('.') == std::string::npos;
      });
    }();
    const auto more = i % 2 == 0 ? 0 : s.cluster().servers() > s.cluster().copies() + 1 ? -1 : 1;
    const auto ended = life.run(what, resumed, more, lives[i]);
    digests.add(ended.record.trace_digest);
    if (life.went_down() && !by.broken()) {
      by.on_restored();
      continue;
    }
    const bool in_time = ended.status.code() != static_cast<int>(errc::timeout) ||
                         ended.status.text().find("simulate.time_limit") == std::string::npos;
    by.end(ended.status, in_time, {ended.record.virtual_time.count()}, outcome);
    break;
  }
  outcome.digest = format("%016llx", static_cast<unsigned long long>(digests.digest()));
  return outcome;
}

}  // namespace

result<std::shared_ptr<const history_check>> calm_check(const config::Scenario& scenario) {
  auto quiet = with_lossy_filters_alone(scenario);
  // What is pushed is part of the workload, and stays.
  auto* kept = quiet.mutable_faults();
  kept->erase(std::remove_if(kept->begin(), kept->end(),
                             [](const config::Fault& f) { return f.kind() != "not_a_number"; }),
              kept->end());
  quiet.mutable_workload()->clear_restore_at();
  quiet.mutable_expect()->set_least_faults(0);
  quiet.mutable_expect()->set_outcome("finished");
  // Without faults nobody can be late: it takes what it takes.
  quiet.mutable_scenario()->set_deadline(duration(std::chrono::hours(24)).count());
  const auto none = plan_of(quiet, target::in_virtual_time);
  if (!none) return none.failure();
  auto made = make_workload(quiet);
  if (!made) return made.failure();
  const std::shared_ptr<const workload> what = std::move(*made);
  judge by(quiet, what);
  const auto outcome = played(quiet, *none, what, by, {});
  if (!outcome.ok())
    return error{errc::internal, "even without faults: " + outcome.violations.front().text};
  return by.check();
}

result<run_outcome> run_in_virtual_time(const config::Scenario& scenario,
                                        const virtual_options& options) {
  const auto faults = plan_of(scenario, target::in_virtual_time);
  if (!faults) return faults.failure();
  auto made = make_workload(scenario);
  if (!made) return made.failure();
  const std::shared_ptr<const workload> what = std::move(*made);
  std::shared_ptr<const history_check> calm;
  if (what->wants_calm_run()) {
    auto without = calm_check(scenario);
    if (!without) {  // it needs no fault to go wrong
      run_outcome broken;
      broken.violations.push_back({"a run without faults is right", without.failure().text, {}});
      return broken;
    }
    calm = std::move(*without);
  }
  judge by(scenario, what, calm);
  return played(scenario, *faults, what, by, options);
}

}  // namespace troupe::chaos
