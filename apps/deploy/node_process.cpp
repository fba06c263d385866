#include "apps/deploy/node_process.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "actors/server/server_actor.hpp"
#include "actors/supervision/node_actor.hpp"
#include "apps/deploy/node_watcher_actor.hpp"
#include "apps/local/start_role.hpp"
#include "messages/registration.hpp"

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

struct system_config : caf::actor_system_config {
  explicit system_config(std::size_t threads) {
    load<caf::io::middleman>();
    register_message_types(*this);
    // Threads that steal work sleep between looks for it, which a request across links waits for.
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", threads > 0 ? threads : 2);
    set("middleman.workers", 0);
  }
};

}  // namespace

struct node_process::inside {
  explicit inside(node_settings s)
      : settings(std::move(s)),
        config(settings.threads),
        system(config),
        directory(std::make_shared<local_directory>()),
        io(settings.io ? settings.io : std::shared_ptr<background>(background_thread())) {}

  template <class Change>
  void tell(Change change) {
    std::lock_guard guard(mutex);
    change(news);
    changed.notify_one();
  }
  void on_link_news(const link_news& n);

  node_settings settings;
  // Before the system: an actor's end is told of after await_all_actors_done(), which CAF lets go
  // before it calls attached functors.
  std::mutex mutex;
  std::condition_variable changed;
  look news;
  clock::time_point heard = clock::now();
  system_config config;
  caf::actor_system system;
  std::shared_ptr<local_directory> directory;
  std::shared_ptr<background> io;
  std::shared_ptr<links_gauge> gauge;
  caf::actor links_, node_, watcher;
};

// A node that is told to go for good, or that knocks for long where its place is taken, has to hear
// of it.
void node_process::inside::on_link_news(const link_news& n) {
  if (n.what == link_news::kind::refused_us)
    tell([&](look& l) {
      l.refused = n.text;
      l.refused_for_good = l.refused_for_good || n.final;
    });
}

node_process::node_process(node_settings settings)
    : in_(std::make_unique<inside>(std::move(settings))) {
  auto& in = *in_;
  auto setup = links_of(in.settings.manifest, in.settings.who, in.settings.tls);
  setup.directory = in.directory;
  setup.on_news = [&in](const link_news& n) { in.on_link_news(n); };
  if (in.settings.listening) {
    const auto manifest = in.settings.manifest->present();
    const auto* self = config::find_node(manifest, in.settings.who.name);
    setup.self.set_host(self->address());
    setup.self.set_port(in.settings.listening->port);
    setup.listening = in.settings.listening->socket;
  }
  in.gauge = setup.gauge;
  in.links_ =
      caf::actor_cast<caf::actor>(in.system.middleman().spawn_broker(links, std::move(setup)));
  // Without links this process is of no use to anybody.
  caf::actor_cast<caf::abstract_actor*>(in.links_)->attach_functor([&in](const caf::error& why) {
    in.tell([&](look& l) { l.given_up = "its links have ended: " + in.system.render(why); });
  });
  node_watcher_settings w;
  w.find = in.directory;
  w.every = in.settings.ask_every;
  const auto& who = in.settings.who;
  if (who.role.role == pb::SERVER || who.role.role == pb::WORKER) {
    w.query.set_role(who.role.role);
    w.query.set_index(who.role.index);
    w.query.set_incarnation(who.incarnation + 999);  // and of all lives of its actor
  }
  w.query.set_brief(!in.settings.whole_status);
  w.query.set_with_view(in.settings.whole_status);
  w.on_status = [&in](const pb::JobStatus& status) {
    in.tell([&](look& l) {
      l.status = status;
      in.heard = clock::now();
    });
  };
  w.on_heard = [&in] {
    std::lock_guard guard(in.mutex);
    in.heard = clock::now();
  };
  if (in.settings.wants_job) {
    w.query.set_role(who.role.role);
    w.query.set_index(who.role.index);
    w.on_job = [&in](const pb::JobText& job) { in.tell([&](look& l) { l.job = job; }); };
  }
  w.on_command = [&in](const pb::CommandReply& reply) {
    in.tell([&](look& l) { l.command = reply; });
  };
  in.watcher = caf::actor_cast<caf::actor>(in.system.spawn(node_watcher, std::move(w)));
}

node_process::~node_process() {
  auto& in = *in_;
  for (auto* one : {&in.watcher, &in.node_, &in.links_})
    if (*one) {
      caf::anon_send_exit(*one, caf::exit_reason::user_shutdown);
      *one = nullptr;
    }
  in.system.await_all_actors_done();
}

void node_process::start(const cluster_settings& settings) {
  auto& in = *in_;
  node_spec spec;
  spec.env.role = in.settings.who.role;
  spec.env.incarnation = in.settings.who.incarnation;
  spec.env.find = in.directory;
  spec.env.files = in.settings.files;
  spec.env.io = in.io;
  spec.env.work_done = std::make_shared<meter>();
  spec.env.request_timeout = settings.request_timeout;
  const bool scheduler = spec.env.role.role == pb::SCHEDULER;
  spec.restarts = scheduler ? settings.scheduler_restarts : settings.restarts;
  spec.start = [settings](caf::actor_system& system, const environment& env) {
    return start_role(settings, system, env);
  };
  spec.publish = [directory = in.directory](role_id id, caf::strong_actor_ptr handle) {
    directory->publish(id, std::move(handle));
  };
  if (!scheduler) spec.beat_every = settings.beat_every;
  spec.on_given_up = [&in](const std::string& why) { in.tell([&](look& l) { l.given_up = why; }); };
  in.node_ = caf::actor_cast<caf::actor>(in.system.spawn(node, std::move(spec)));
}

node_process::look node_process::wait(duration at_most) {
  auto& in = *in_;
  std::unique_lock guard(in.mutex);
  const auto anything = [&] {
    const auto& n = in.news;
    return n.status || n.job || n.command || n.given_up || n.refused;
  };
  in.changed.wait_for(guard, at_most, anything);
  auto seen = std::exchange(in.news, {});
  seen.silence = std::chrono::duration_cast<duration>(clock::now() - in.heard);
  return seen;
}

void node_process::drain(role_id node) {
  pb::DrainNode request;
  request.set_role(node.role);
  request.set_index(node.index);
  caf::anon_send(in_->watcher, drain_atom::value, request);
}

void node_process::rebalance() {
  caf::anon_send(in_->watcher, even_atom::value, pb::Rebalance{});
}

void node_process::take_checkpoint() {
  caf::anon_send(in_->watcher, take_atom::value, pb::TakeCheckpoint{});
}

void node_process::stop_job(const std::string& reason) {
  pb::StopJob request;
  request.set_reason(reason);
  caf::anon_send(in_->watcher, stop_atom::value, request);
}

void node_process::end_slots() {
  if (auto worker = in_->directory->worker(in_->settings.who.role.index))
    caf::anon_send(worker, stop_atom::value, pb::StopSlots{});
}

std::uint32_t node_process::admins() const {
  return in_->gauge->admins;
}
caf::actor_system& node_process::system() {
  return in_->system;
}
std::shared_ptr<const resolver> node_process::find() const {
  return in_->directory;
}

}  // namespace troupe
