#include "apps/local/local_cluster.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "actors/server/server_actor.hpp"
#include "actors/supervision/directory.hpp"
#include "actors/supervision/node_actor.hpp"
#include "apps/local/watcher_actor.hpp"
#include "messages/registration.hpp"

namespace troupe {
namespace {

struct system_config : caf::actor_system_config {
  explicit system_config(std::size_t threads) {
    register_message_types(*this);
    set("scheduler.max-threads",
        threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency()));
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
    for (const auto& root : roots_) caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    roots_.clear();
    system_.await_all_actors_done();
  }

  pb::JobStatus run() {
    start(the_scheduler, {0, {}, {}, {}},
          [setup = settings_.scheduler](caf::actor_system& sys, const environment& env) {
            return caf::actor_cast<caf::strong_actor_ptr>(sys.spawn(scheduler, env, setup));
          });
    for (std::uint32_t i = 0; i < settings_.scheduler.job.servers; ++i)
      start(server_role(i), {0, {}, {}, {}}, [](caf::actor_system& sys, const environment& env) {
        return caf::actor_cast<caf::strong_actor_ptr>(sys.spawn(server, env));
      });
    for (std::uint32_t i = 0; i < settings_.scheduler.job.workers; ++i)
      start(worker_role(i), settings_.restarts,
            [setup = settings_.worker](caf::actor_system& sys, const environment& env) {
              return caf::actor_cast<caf::strong_actor_ptr>(sys.spawn(worker, env, setup));
            });
    return watch();
  }

 private:
  void start(role_id role, restart_settings restarts, start_child child) {
    node_spec spec;
    spec.env.role = role;
    spec.env.find = directory_;
    spec.env.files = settings_.files;
    spec.env.io = io_;
    spec.env.work_done = std::make_shared<meter>();
    spec.env.request_timeout = settings_.request_timeout;
    spec.restarts = restarts;
    spec.start = std::move(child);
    spec.publish = [directory = directory_](role_id id, caf::strong_actor_ptr handle) {
      directory->publish(id, std::move(handle));
    };
    roots_.push_back(caf::actor_cast<caf::actor>(system_.spawn(node, std::move(spec))));
  }

  pb::JobStatus watch() {
    auto box = std::make_shared<status_box>();
    watcher_settings w;
    w.find = directory_;
    w.on_status = [box](const pb::JobStatus& status) { box->put(status); };
    roots_.push_back(caf::actor_cast<caf::actor>(system_.spawn(watcher, std::move(w))));
    bool stopping = false;
    for (;;) {
      auto status = box->take();
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
  std::vector<caf::actor> roots_;
};

}  // namespace

pb::JobStatus run_local_cluster(const cluster_settings& settings) {
  return cluster(settings).run();
}

}  // namespace troupe
