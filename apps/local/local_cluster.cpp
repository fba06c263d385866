#include "apps/local/local_cluster.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <caf/all.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "actors/supervision/directory.hpp"
#include "actors/supervision/node_actor.hpp"
#include "apps/local/start_role.hpp"
#include "apps/local/watcher_actor.hpp"
#include "messages/registration.hpp"

namespace troupe {
namespace {

// The kernel may wake a thread that sleeps 50 us late, to save wake-ups; here that is ten times as
// long as the sleep.
struct punctual_threads : caf::thread_hook {
  void init(caf::actor_system&) override {}
  void thread_started() override { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }
  void thread_terminates() override {}
};

// A slot's clock is shorter than CAF's thieves sleep between looks for work, so that slots that
// could run side by side would run one after the other. These look often, for the 5 ms or so that
// a cluster at work is ever idle; then they sleep as long as CAF has it.
struct system_config : caf::actor_system_config {
  explicit system_config(std::size_t threads) {
    register_message_types(*this);
    add_thread_hook<punctual_threads>();
    set("scheduler.max-threads",
        threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency()));
    set("work-stealing.aggressive-poll-attempts", std::size_t{20});
    set("work-stealing.aggressive-steal-interval", std::size_t{1});
    set("work-stealing.moderate-steal-interval", std::size_t{1});
    set("work-stealing.moderate-sleep-duration", caf::timespan(std::chrono::microseconds(5)));
  }
};

// The latest status, handed from the watcher's thread to the caller's.
class status_box {
 public:
  void put(const pb::JobStatus& status) {
    std::lock_guard guard(mutex_);
    latest_ = status;
    changed_.notify_one();
  }
  pb::JobStatus take() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard,
                  [this] { return latest_.has_value(); });  // the watcher's patience bounds this
    auto status = std::move(*latest_);
    latest_.reset();
    return status;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<pb::JobStatus> latest_;
};

class cluster {
 public:
  explicit cluster(const cluster_settings& settings)
      : settings_(settings),
        config_(settings.threads),
        system_(config_),
        directory_(std::make_shared<local_directory>()),
        io_(background_thread()) {}

  ~cluster() {
    for (const auto& [id, root] : nodes_)
      caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    for (const auto& root : others_) caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    nodes_.clear();
    others_.clear();
    system_.await_all_actors_done();
  }

  pb::JobStatus run() {
    start(the_scheduler);
    for (std::uint32_t i = 0; i < settings_.scheduler.job.servers; ++i) start(server_role(i));
    for (std::uint32_t i = 0; i < settings_.scheduler.job.workers; ++i) start(worker_role(i));
    return watch();
  }

 private:
  void start(role_id role) {
    if (nodes_.count(role)) return;
    node_spec spec;
    spec.env.role = role;
    {
      std::lock_guard guard(lives_);
      spec.env.incarnation = incarnations_[role] + 1;
    }
    spec.env.find = directory_;
    spec.env.files = settings_.files;
    spec.env.io = io_;
    spec.env.work_done = std::make_shared<meter>();
    spec.env.request_timeout = settings_.request_timeout;
    spec.restarts = role.role == pb::SCHEDULER ? settings_.scheduler_restarts : settings_.restarts;
    spec.start = [this](caf::actor_system& sys, const environment& env) {
      {
        std::lock_guard guard(lives_);
        incarnations_[env.role] = env.incarnation;
      }
      return start_role(settings_, sys, env);
    };
    spec.publish = [directory = directory_](role_id id, caf::strong_actor_ptr handle) {
      directory->publish(id, std::move(handle));
    };
    if (role.role != pb::SCHEDULER) spec.beat_every = settings_.beat_every;
    nodes_[role] = caf::actor_cast<caf::actor>(system_.spawn(node, std::move(spec)));
  }

  // As a machine that loses its power: nobody is told.
  void kill(role_id role) {
    const auto found = nodes_.find(role);
    if (found == nodes_.end()) return;
    caf::anon_send_exit(found->second, caf::exit_reason::user_shutdown);
    nodes_.erase(found);
  }

  void perform(const planned_event& e) {
    using kind = planned_event::kind;
    if (e.what == kind::kill) return kill(e.node);
    if (e.what == kind::start) return start(e.node);
    auto found = directory_->scheduler();
    if (!found) return;
    if (e.what == kind::rebalance) return caf::anon_send(found, even_atom::value, pb::Rebalance{});
    pb::DrainNode drain;
    drain.set_role(e.node.role);
    drain.set_index(e.node.index);
    caf::anon_send(found, drain_atom::value, drain);
  }

  void perform_what_is_due() {
    const auto since = std::chrono::steady_clock::now() - begun_;
    while (next_event_ < settings_.events.size() && settings_.events[next_event_].at <= since)
      perform(settings_.events[next_event_++]);
  }

  pb::JobStatus watch() {
    auto box = std::make_shared<status_box>();
    watcher_settings w;
    w.find = directory_;
    w.on_status = [box](const pb::JobStatus& status) { box->put(status); };
    w.awaits_end = settings_.events.empty();
    if (!w.awaits_end) w.every = std::chrono::milliseconds(5);
    others_.push_back(caf::actor_cast<caf::actor>(system_.spawn(watcher, std::move(w))));
    bool stopping = false;
    for (;;) {
      auto status = box->take();
      perform_what_is_due();
      const bool stop = settings_.watch && settings_.watch(status);
      if (status.phase() == pb::JobStatus::FINISHED || status.phase() == pb::JobStatus::FAILED)
        return status;
      if (!stop || stopping) continue;
      stopping = true;
      pb::StopJob request;
      request.set_reason("interrupted");
      if (auto found = directory_->scheduler()) caf::anon_send(found, stop_atom::value, request);
    }
  }

  const cluster_settings& settings_;
  system_config config_;
  caf::actor_system system_;
  std::shared_ptr<local_directory> directory_;
  std::shared_ptr<background> io_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::size_t next_event_ = 0;
  std::mutex lives_;  // nodes start their actors on other threads
  std::map<role_id, std::uint64_t> incarnations_;
  std::map<role_id, caf::actor> nodes_;
  std::vector<caf::actor> others_;
};

}  // namespace

pb::JobStatus run_local_cluster(const cluster_settings& settings) {
  return cluster(settings).run();
}

}  // namespace troupe
