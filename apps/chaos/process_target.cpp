#include "apps/chaos/process_target.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>

#include "apps/chaos/judge.hpp"
#include "apps/chaos/process_cluster.hpp"
#include "apps/chaos/spoil.hpp"
#include "apps/chaos/virtual_target.hpp"
#include "apps/deploy/node_process.hpp"
#include "core/text.hpp"
#include "messages/version.hpp"
#include "messages/view.hpp"

namespace troupe::chaos {
namespace {

instant now_of_machine() {
  return {std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

bool needs_network(fault_kind kind) {
  return kind == fault_kind::partition || kind == fault_kind::latency ||
         kind == fault_kind::bandwidth || kind == fault_kind::loss;
}

class process_run {
 public:
  process_run(const config::Scenario& s, const plan& p, const process_options& o)
      : s_(s),
        plan_(p),
        options_(o),
        cluster_(s, o.program, o.folder),
        random_(s.scenario().seed()) {}

  result<run_outcome> run() {
    const bool with_network = std::any_of(plan_.strikes.begin(), plan_.strikes.end(),
                                          [](const strike& f) { return needs_network(f.kind); });
    if (auto ready = cluster_.prepare(with_network); !ready) return ready.failure();
    if (auto open = open_access(); !open) return open.failure();
    for (const auto id : cluster_.who().all())
      if (!cluster_.who().joins_later(id))
        if (auto begun = cluster_.begin(id); !begun) return begun.failure();
    watch();
    return conclude();
  }

 private:
  struct active {
    std::size_t fault = 0;
    std::function<void()> end;
    instant until;
  };

  duration stretched(duration d) const {
    return duration(
        static_cast<std::int64_t>(static_cast<double>(d.count()) * s_.scenario().stretch()));
  }
  result<void> open_access() {
    auto manifest = live_manifest::load(posix_file_system(), cluster_.manifest());
    if (!manifest) return manifest.failure();
    node_settings n;
    n.manifest = *manifest;
    n.who = {"admin", {pb::ADMIN, 0}, 1};
    auto tls = open_security(*posix_file_system(), n.manifest->present(), n.who);
    if (!tls) return tls.failure();
    n.tls = *tls;
    n.files = posix_file_system();
    n.whole_status = true;
    n.ask_every = std::chrono::milliseconds(100);
    admin_ = std::make_unique<node_process>(std::move(n));
    return {};
  }

  void watch() {
    const auto patience =
        stretched(plan_.healed + duration(s_.scenario().deadline())) + std::chrono::seconds(60);
    const auto begun = now_of_machine();
    std::size_t next = 0;
    for (;;) {
      const auto seen = admin_->wait(std::chrono::milliseconds(20));
      if (seen.status) {
        status_ = *seen.status;
        if (!training_since_ && status_.phase() >= pb::JobStatus::TRAINING) begin_training();
      }
      if (cluster_.tend()) return;
      if (status_.phase() == pb::JobStatus::FINISHED || status_.phase() == pb::JobStatus::FAILED) {
        admin_.reset();  // the scheduler waits for who has not heard of the end
        return wait_for_goodbyes();
      }
      const auto now = now_of_machine();
      if (now - begun > patience) {
        in_time_ = false;
        return;
      }
      if (!training_since_) continue;
      for (auto a = active_.begin(); a != active_.end();) {
        if (now < a->until) {
          ++a;
          continue;
        }
        a->end();
        a = active_.erase(a);
      }
      for (; next < plan_.strikes.size() &&
             *training_since_ + stretched(plan_.strikes[next].at) <= now;
           ++next)
        waiting_.push_back(&plan_.strikes[next]);
      strike_those_that_may(now);
      look_at_holdings(now);
    }
  }

  void begin_training() {
    training_since_ = now_of_machine();
    for (const auto id : cluster_.who().all())
      if (const auto h = cluster_.holdings_of(id)) first_[id] = *h;
  }

  void wait_for_goodbyes() {
    for (int i = 0; i < 750 && cluster_.any_runs(); ++i) {
      const auto now = now_of_machine();
      for (auto& a : active_)
        if (a.until <= now || i == 0) a.end();  // nobody stays stopped or cut off
      active_.clear();
      if (cluster_.tend() && i > 500) return;
      ::usleep(20'000);
    }
  }

  // What each process holds once it has worked for a while, and at last.
  void look_at_holdings(instant now) {
    if (now - looked_ < std::chrono::milliseconds(500)) return;
    looked_ = now;
    for (const auto id : cluster_.who().all())
      if (const auto h = cluster_.holdings_of(id)) {
        last_[id] = *h;
        if (first_.count(id) == 0) first_[id] = *h;
      }
  }

  bool affordable(const strike& s, const std::vector<role_id>& nodes, instant now) const {
    if (s_.expect().loss()) return true;
    std::set<std::uint32_t> taken;
    const bool hits = s.kind == fault_kind::kill || s.kind == fault_kind::pause ||
                      s.kind == fault_kind::slow || s.kind == fault_kind::descriptors ||
                      s.kind == fault_kind::duplicate_name || needs_network(s.kind);
    for (const auto id : nodes)
      if (hits && id.role == pb::SERVER) taken.insert(id.index);
    if (taken.empty()) return true;
    const auto v = view::from_message(status_.view());
    if (!v || v->empty()) return false;
    return std::all_of(v->shards().begin(), v->shards().end(), [&](const shard_entry& e) {
      return std::any_of(e.chain.begin(), e.chain.end(), [&](std::uint32_t index) {
        const auto out = out_until_.find(server_role(index));
        return taken.count(index) == 0 && (out == out_until_.end() || out->second < now) &&
               cluster_.runs(server_role(index));
      });
    });
  }

  void strike_those_that_may(instant now) {
    for (auto s = waiting_.begin(); s != waiting_.end();) {
      auto nodes = (*s)->node.nodes;
      if ((*s)->node.primary_of)
        if (const auto v = view::from_message(status_.view()); v && !v->empty()) {
          const auto place = partitioning::by_hash().position_of(*(*s)->node.primary_of);
          nodes = {server_role(v->find(v->segment_of(place).shard)->primary())};
        }
      if (!affordable(**s, nodes, now) || (nodes.empty() && (*s)->node.primary_of)) {
        ++s;
        continue;
      }
      begin(**s, nodes, now);
      s = waiting_.erase(s);
    }
  }

  void begin(const strike& s, const std::vector<role_id>& nodes, instant now) {
    struck record;
    record.text = describe(s);
    record.kind = s.kind;
    record.from = now - instant{};
    const auto lasts = stretched(s.lasts);
    record.to = record.from + lasts;
    for (const auto id : nodes) record.nodes.push_back(to_string(id));
    auto end = carry_out(s, nodes);
    if (!end) record.withheld = end.failure().text;
    if (end && *end && lasts > duration::zero())
      active_.push_back({faults_.size(), *end, now + lasts});
    faults_.push_back(std::move(record));
    for (const auto id : nodes)
      out_until_[id] = now + lasts + 4 * stretched(duration(s_.cluster().death_after()));
  }

  using ending = std::function<void()>;
  result<ending> carry_out(const strike& s, const std::vector<role_id>& nodes) {
    const auto each = [&](const auto& act) -> result<void> {
      for (const auto id : nodes)
        if (auto done = act(id); !done) return done;
      return {};
    };
    const auto over_all = [](auto act, std::vector<role_id> of) {
      return ending([act, of] {
        for (const auto id : of) act(id);
      });
    };
    switch (s.kind) {
      case fault_kind::kill:
        for (const auto id : nodes) cluster_.kill(id);
        return over_all([this](role_id id) { (void)cluster_.begin(id).ok(); }, nodes);
      case fault_kind::pause:
      case fault_kind::slow:  // it stands still most of the time
        for (const auto id : nodes) cluster_.pause(id, true);
        if (s.kind == fault_kind::slow) slow_down(s, nodes);
        return over_all([this](role_id id) { cluster_.pause(id, false); }, nodes);
      case fault_kind::descriptors: {
        auto done = each([&](role_id id) { return cluster_.limit_descriptors(id, true); });
        if (!done) return done.failure();
        return over_all([this](role_id id) { (void)cluster_.limit_descriptors(id, false).ok(); },
                        nodes);
      }
      case fault_kind::disk_full: {
        if (auto done = cluster_.fill_disk(true); !done) return done.failure();
        return ending([this] { (void)cluster_.fill_disk(false).ok(); });
      }
      case fault_kind::bit_flip:
      case fault_kind::truncate:
        spoil_latest_checkpoint(*posix_file_system(), cluster_.shared(),
                                s.kind == fault_kind::truncate, random_);
        return ending();
      case fault_kind::partition:
        return partition(s, nodes);
      case fault_kind::bandwidth:
        return shaped(nodes,
                      {"tbf", "rate", format("%lldbps", static_cast<long long>(s.how.bandwidth())),
                       "burst", "32kb", "latency", "400ms"});
      case fault_kind::latency:
        return shaped(nodes,
                      {"netem", "delay",
                       format("%.0fus", seconds_of(stretched(duration(s.how.latency()))) * 1e6),
                       format("%.0fus", seconds_of(stretched(duration(s.how.jitter()))) * 1e6)});
      case fault_kind::loss:
        return shaped(nodes, {"netem", "loss", format("%.2f%%", s.how.chance() * 100)});
      case fault_kind::duplicate_name: {
        auto done = each([&](role_id id) { return cluster_.begin_second(id); });
        if (!done) return done.failure();
        return ending();
      }
      case fault_kind::join: {
        auto done = each([&](role_id id) { return cluster_.begin(id); });
        if (!done) return done.failure();
        return ending();
      }
      case fault_kind::drain:
        for (const auto id : nodes) admin_->drain(id);
        return ending();
      case fault_kind::rebalance:
        admin_->rebalance();
        return ending();
      default:
        return ending();  // the worker's own switches do it
    }
  }

  // Stopped and let go in turn, so that it has one part in `factor` of the time.
  void slow_down(const strike& s, const std::vector<role_id>& nodes) {
    constexpr duration period = std::chrono::milliseconds(200);
    const auto until = now_of_machine() + stretched(s.lasts);
    const auto runs_for = duration(static_cast<std::int64_t>(period.count() / s.how.factor()));
    for (auto at = now_of_machine() + period; at < until; at = at + period) {
      active_.push_back({0,
                         [this, nodes] {
                           for (const auto id : nodes) cluster_.pause(id, false);
                         },
                         at});
      active_.push_back({0,
                         [this, nodes] {
                           for (const auto id : nodes) cluster_.pause(id, true);
                         },
                         at + runs_for});
    }
  }

  result<ending> shaped(const std::vector<role_id>& nodes, const std::vector<std::string>& how) {
    for (const auto id : nodes)
      if (auto done = cluster_.network()->shape(id, how); !done) return done.failure();
    return ending([this, nodes] {
      for (const auto id : nodes) (void)cluster_.network()->unshape(id).ok();
    });
  }

  result<ending> partition(const strike& s, const std::vector<role_id>& nodes) {
    const auto cuts = cuts_of(s, nodes, cluster_.who());
    for (const auto& [from, to] : cuts)
      if (auto done = cluster_.network()->cut(from, to); !done) return done.failure();
    return ending([this, cuts] {
      for (const auto& [from, to] : cuts) (void)cluster_.network()->heal(from, to).ok();
    });
  }

  result<run_outcome> conclude() {
    admin_.reset();
    const bool left = cluster_.any_runs();
    cluster_.end_all();
    run_outcome o;
    for (const auto id : cluster_.who().all()) o.nodes.push_back(to_string(id));
    const auto base = training_since_.value_or(now_of_machine());
    const auto ended = now_of_machine();
    for (auto f : faults_) {
      f.from -= base - instant{};
      f.to -= base - instant{};
      f.to = std::min(f.to, ended - base);
      o.faults.push_back(std::move(f));
    }
    for (const auto* s : waiting_) {
      struck f;
      f.text = describe(*s);
      f.withheld = "it would take the last copy of a shard that is in reach";
      o.faults.push_back(std::move(f));
    }
    for (const auto& e : status_.events())
      o.happenings.push_back({duration(e.at_ns()), "scheduler", e.text()});
    auto made = make_workload(s_);
    if (!made) return made.failure();
    const std::shared_ptr<const workload> what = std::move(*made);
    std::shared_ptr<const history_check> calm;
    if (what->wants_calm_run()) {
      // Bulk-synchronous: the very bits of a run in virtual time.
      auto c = calm_check(s_);
      if (!c) return c.failure();
      calm = *c;
    }
    judge by(s_, what, calm);
    std::vector<std::string> paths;
    const auto names = posix_file_system()->list(cluster_.ledgers());
    for (const auto& n : names ? *names : std::vector<std::string>())
      paths.push_back(cluster_.ledgers() + "/" + n);
    auto entries = read_ledgers(*posix_file_system(), paths);
    if (!entries) return entries.failure();
    for (auto& e : *entries) {
      e.at = {(e.at - base).count()};
      by.on(e);
    }
    // Of two under one name, one is refused, and gives up when its own patience ends.
    const bool second = std::any_of(faults_.begin(), faults_.end(), [](const struck& f) {
      return f.kind == fault_kind::duplicate_name;
    });
    if (left && !second && in_time_ && status_.phase() == pb::JobStatus::FINISHED)
      by.report({"nothing is left behind", "processes still ran when the job had ended", {}});
    judge_holdings(by, o, ended - base);
    if (status_.phase() < pb::JobStatus::FINISHED && in_time_) {
      status_.set_phase(pb::JobStatus::FAILED);
      status_.set_text("the scheduler has ended: " + cluster_.said_by(the_scheduler));
    }
    by.end(status_, in_time_, {(ended - base).count()}, o);
    return o;
  }

  void judge_holdings(judge& by, run_outcome& o, duration at) const {
    constexpr std::uint64_t more_descriptors = 64, more_bytes = 96 << 20;
    double most_bytes = 0, most_descriptors = 0;
    for (const auto& [id, h] : last_) {
      const auto& f = first_.at(id);
      const auto bytes =
          h.resident_bytes > f.resident_bytes ? h.resident_bytes - f.resident_bytes : 0;
      const auto open = h.descriptors > f.descriptors ? h.descriptors - f.descriptors : 0;
      most_bytes = std::max(most_bytes, static_cast<double>(bytes));
      most_descriptors = std::max(most_descriptors, static_cast<double>(open));
      if (bytes > more_bytes || open > more_descriptors)
        by.report({"memory and descriptors stay bounded",
                   format("%s holds %.1f MB more than at the beginning, and %llu descriptors more",
                          to_string(id).c_str(), static_cast<double>(bytes) * 1e-6,
                          static_cast<unsigned long long>(open)),
                   {at.count()}});
    }
    o.metrics["most_bytes_more"] = most_bytes;
    o.metrics["most_descriptors_more"] = most_descriptors;
  }

  const config::Scenario& s_;
  const plan& plan_;
  const process_options& options_;
  process_cluster cluster_;
  random_source random_;
  std::unique_ptr<node_process> admin_;
  pb::JobStatus status_;
  bool in_time_ = true;
  std::optional<instant> training_since_;
  instant looked_;
  std::vector<const strike*> waiting_;
  std::vector<active> active_;
  std::vector<struck> faults_;
  std::map<role_id, instant> out_until_;
  std::map<role_id, holdings> first_, last_;
};

}  // namespace

result<run_outcome> run_on_processes(const config::Scenario& scenario,
                                     const process_options& options) {
  const auto faults = plan_of(scenario, target::on_processes);
  if (!faults) return faults.failure();
  if (scenario.workload().restore_at_size() > 0)
    return error{errc::bad_config,
                 "workload.restore_at: only in virtual time can a whole cluster lose power"};
  process_run run(scenario, *faults, options);
  auto outcome = run.run();
  if (!options.keep_folder && outcome && outcome->ok())
    (void)posix_file_system()->remove(options.folder).ok();
  return outcome;
}

}  // namespace troupe::chaos
