#include "apps/virtual/virtual_cluster.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <optional>

#include "actors/supervision/node_actor.hpp"
#include "apps/local/start_role.hpp"
#include "apps/local/watcher_actor.hpp"
#include "apps/virtual/probe_actor.hpp"
#include "apps/virtual/virtual_stage.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

using sim::node_number;

// A second of virtual time may take a minute of real time, in which somebody may press Ctrl-C.
constexpr std::uint64_t steps_between_watches = 1 << 14;

class virtual_cluster final : private virtual_stage {
 public:
  virtual_cluster(const cluster_settings& cluster, const virtual_settings& settings,
                  const std::function<std::shared_ptr<evaluation>()>& new_scores,
                  const virtual_watch& watch)
      : cluster_(cluster),
        settings_(settings),
        new_scores_(new_scores),
        watch_(watch),
        incarnations_(settings.engine.cast.size()),
        lives_(settings.engine.cast.size()),
        time_limit_{settings.time_limit.count()},
        sim_(settings.engine, cluster.files) {}

  virtual_run run() {
    const auto& cast = settings_.engine.cast;
    for (node_number n = 0; n < cast.size(); ++n)
      if (!joins_later(n)) sim_.start_node(n, [this, n](std::uint32_t) { begin_life(n); });
    for (const auto& f : settings_.faults) plan(f);
    if (settings_.direct) settings_.direct(*this);
    start_watcher();
    if (settings_.objective_every > duration::zero())
      sim_.at(instant{settings_.objective_every.count()}, [this] { look(); });
    while (!ended() && sim_.now() < time_limit_ && sim_.step())
      if (sim_.steps() % steps_between_watches == 0 && status_) ask_watch();
    if (!ended()) give_up();
    // A job that ended because it had reached its target was not interrupted: it did what it was
    // told.
    if (target_reached_ && !asked_to_stop_) status_->set_interrupted(false);
    return {*status_, record(), passed_, sim_.waiting(), sim_.proxies(), target_reached_};
  }

 private:
  bool ended() const {
    return status_ && (status_->phase() == pb::JobStatus::FINISHED ||
                       status_->phase() == pb::JobStatus::FAILED);
  }

  // A node's landmarks: counted, and where a strike is planned the node crashes.
  class node_landmarks final : public landmarks {
   public:
    node_landmarks(virtual_cluster& of, node_number n) : of_(of), node_(n) {}
    void passed(const char* which) override { of_.on_landmark(node_, which); }

   private:
    virtual_cluster& of_;
    const node_number node_;
  };

  void on_landmark(node_number n, const char* which) {
    ++passed_[which];
    if (listener_) listener_(n, which);
    for (std::size_t i = 0; i < settings_.strikes.size(); ++i) {
      const auto& s = settings_.strikes[i];
      if (s.landmark != which) continue;
      const auto who = sim_.map().matching(s.node);
      if (std::find(who.begin(), who.end(), n) == who.end()) continue;
      if (++struck_[i] != s.occurrence) continue;
      // Before the turn is over, since it takes time.
      sim_.at(sim_.now(), [this, n] { sim_.crash(n); });
      if (s.lasts > duration::zero()) sim_.at(sim_.now() + s.lasts, [this, n] { sim_.restart(n); });
    }
  }

  bool joins_later(node_number n) const {
    if (std::count(settings_.absent.begin(), settings_.absent.end(), n) > 0) return true;
    for (const auto& f : settings_.faults)
      if (f.what == planned_fault::kind::join) {
        const auto who = sim_.map().matching(f.node);
        if (std::find(who.begin(), who.end(), n) != who.end()) return true;
      }
    return false;
  }

  sim::simulation& sim() override { return sim_; }
  const sim::cast_of_nodes& cast() const override { return settings_.engine.cast; }
  const std::optional<pb::JobStatus>& status() const override { return status_; }
  instant status_at() const override { return status_at_; }
  std::uint64_t incarnation(node_number n) const override { return incarnations_[n]; }
  void set_time_limit(instant t) override { time_limit_ = t; }
  void listen(on_landmark_call to) override { listener_ = std::move(to); }

  // A life of a node: its supervisor, which starts its actor.
  void begin_life(node_number n) override {
    const auto role = settings_.engine.cast.role(n);
    node_spec spec;
    spec.env = sim_.environment_of(n);
    spec.env.marks = std::make_shared<node_landmarks>(*this, n);
    spec.env.request_timeout = cluster_.request_timeout;
    // Who is started while another still lives is told from what that one's supervisor starts.
    constexpr std::uint64_t gap = 1000;
    const bool second = sim_.down(n) || lives_[n] != sim_.life(n) ? false : true;
    lives_[n] = sim_.life(n);
    spec.env.incarnation = incarnations_[n] + (second ? gap : 1);
    incarnations_[n] = spec.env.incarnation;
    const auto own = std::make_shared<std::uint64_t>(spec.env.incarnation);
    spec.restarts = role.role == pb::SCHEDULER ? cluster_.scheduler_restarts : cluster_.restarts;
    if (role.role != pb::SCHEDULER) spec.beat_every = cluster_.beat_every;
    spec.start = [this, n, own](caf::actor_system& system, const environment& env) {
      *own = env.incarnation;
      incarnations_[n] = std::max(incarnations_[n], env.incarnation);
      auto actor = start_role(cluster_, system, env);
      sim_.place(n, actor);
      return actor;
    };
    spec.publish = [this, n, own](role_id, caf::strong_actor_ptr handle) {
      if (*own == incarnations_[n]) sim_.publish(n, std::move(handle));
    };
    sim_.place(n,
               caf::actor_cast<caf::strong_actor_ptr>(sim_.actors().spawn(node, std::move(spec))));
  }

  void start_watcher() {
    watcher_settings w;
    w.find = sim_.observers_view();
    w.every = settings_.watch_every;
    w.with_view = static_cast<bool>(settings_.direct);
    w.patience = std::chrono::minutes(10);  // of virtual time: its node may be down for a while
    w.on_status = [this](const pb::JobStatus& status) { on_status(status); };
    sim_.outside([&] { sim_.actors().spawn(watcher, std::move(w)); });
  }

  void on_status(const pb::JobStatus& status) {
    status_ = status;
    status_at_ = sim_.now();
    ask_watch();
  }

  void ask_watch() {
    if (!watch_ || !watch_(*status_, sim_.now())) return;
    asked_to_stop_ = true;
    stop("interrupted");
  }

  void stop(const char* why) {
    if (std::exchange(stopping_, true)) return;
    pb::StopJob request;
    request.set_reason(why);
    if (auto found = sim_.observers_view()->scheduler())
      caf::anon_send(found, stop_atom::value, request);
  }

  // Looks at the objective of the whole model, at no cost to the cluster.
  void look() {
    if (ended() || stopping_) return;
    if (status_) {
      probe_settings p;
      p.find = sim_.observers_view();
      p.app = cluster_.worker.app;
      p.plan = cluster_.scheduler.job.plan;
      p.scores = new_scores_();
      p.on_objective = [this](double objective) { on_objective(objective); };
      sim_.outside([&] { sim_.actors().spawn(probe, std::move(p)); });
    }
    if (status_ && status_->phase() > pb::JobStatus::TRAINING) return;
    sim_.at(sim_.now() + settings_.objective_every, [this] { look(); });
  }

  void on_objective(double objective) {
    sim_.log().looks(
        {duration(sim_.now().ns), sim_.clocks_computed(), sim_.examples_computed(), objective});
    if (settings_.objective_target <= 0 || objective > settings_.objective_target) return;
    target_reached_ = true;
    stop("the objective's target is reached");
  }

  void knock(role_id as, std::uint32_t protocol,
             std::function<void(const pb::JoinReply&)> answer) override {
    pb::Join join;
    join.set_role(as.role);
    join.set_index(as.index);
    join.set_incarnation(1);
    join.set_protocol(protocol);
    sim_.outside([&] {
      sim_.actors().spawn([this, join, answer](caf::event_based_actor* self) {
        if (auto found = sim_.observers_view()->scheduler())
          self->request(found, cluster_.request_timeout, join_atom::value, join)
              .then([answer](const pb::JoinReply& reply) { answer(reply); },
                    [](const caf::error&) {});
      });
    });
  }

  void drain(node_number n) override {
    const auto role = settings_.engine.cast.role(n);
    pb::DrainNode request;
    request.set_role(role.role);
    request.set_index(role.index);
    sim_.log().befalls(n, "is to be drained", sim_.now());
    sim_.outside([&] {
      if (auto found = sim_.observers_view()->scheduler())
        caf::anon_send(found, drain_atom::value, request);
    });
  }

  void rebalance() override {
    sim_.outside([&] {
      if (auto found = sim_.observers_view()->scheduler())
        caf::anon_send(found, even_atom::value, pb::Rebalance{});
    });
  }

  void plan(const planned_fault& f) {
    using kind = planned_fault::kind;
    if (f.what == kind::rebalance) return sim_.at(instant{f.at.count()}, [this] { rebalance(); });
    for (const auto n : sim_.map().matching(f.node)) {
      if (f.what == kind::crash)
        from_until(
            f, [this, n] { sim_.crash(n); }, [this, n] { sim_.restart(n); });
      else if (f.what == kind::join)
        sim_.at(instant{f.at.count()}, [this, n] {
          sim_.log().befalls(n, "begins", sim_.now());
          sim_.start_node(n, [this, n](std::uint32_t) { begin_life(n); });
        });
      else if (f.what == kind::drain)
        sim_.at(instant{f.at.count()}, [this, n] { drain(n); });
      else if (f.what == kind::pause)
        from_until(
            f, [this, n] { sim_.pause(n); }, [this, n] { sim_.resume(n); });
      else
        for (const auto peer : sim_.map().matching(f.peer))
          if (peer != n) {
            const bool both = f.what == kind::cut;
            from_until(
                f, [=] { sim_.cut(n, peer, both); }, [=] { sim_.heal(n, peer, both); });
          }
    }
  }

  template <class Begin, class End>
  void from_until(const planned_fault& f, Begin begin, End end) {
    sim_.at(instant{f.at.count()}, begin);
    if (f.lasts > duration::zero()) sim_.at(instant{(f.at + f.lasts).count()}, end);
  }

  void give_up() {
    auto status = status_.value_or(pb::JobStatus{});
    const auto phase = pb::JobStatus::Phase_Name(status.phase());
    status.set_phase(pb::JobStatus::FAILED);
    status.set_code(static_cast<std::int32_t>(errc::timeout));
    status.set_text(
        format("after %.3f s of virtual time (simulate.time_limit) the job was still %s",
               seconds_of(duration(sim_.now().ns)), phase.c_str()));
    status_ = status;
  }

  sim::run_record record() {
    auto r = sim_.record();
    for (const auto& slot : status_->slots()) {
      if (static_cast<std::size_t>(slot.staleness_size()) > r.staleness.size())
        r.staleness.resize(static_cast<std::size_t>(slot.staleness_size()));
      for (int i = 0; i < slot.staleness_size(); ++i)
        r.staleness[static_cast<std::size_t>(i)] += slot.staleness(i);
    }
    return r;
  }

  const cluster_settings& cluster_;
  const virtual_settings& settings_;
  const std::function<std::shared_ptr<evaluation>()>& new_scores_;
  const virtual_watch& watch_;
  on_landmark_call listener_;
  std::vector<std::uint64_t> incarnations_;  // the latest of each node
  std::vector<std::uint32_t> lives_;         // of its machine, when it began last
  instant time_limit_;
  std::optional<pb::JobStatus> status_;
  instant status_at_;
  std::map<std::string, std::uint64_t> passed_;
  std::map<std::size_t, std::uint32_t> struck_;  // how often a strike's landmark was passed
  bool stopping_ = false, asked_to_stop_ = false, target_reached_ = false;
  sim::simulation sim_;  // last: its actors use the rest
};

}  // namespace

virtual_run run_virtual_cluster(const cluster_settings& cluster, const virtual_settings& settings,
                                const std::function<std::shared_ptr<evaluation>()>& new_scores,
                                const virtual_watch& watch) {
  return virtual_cluster(cluster, settings, new_scores, watch).run();
}

}  // namespace troupe
