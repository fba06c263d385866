// Message kinds, and actors of two systems that talk over a real connection.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <mutex>

#include "actors/links/links_actor.hpp"
#include "messages/registration.hpp"
#include "tests/support/linked_pair.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct system_config : caf::actor_system_config {
  system_config() {
    load<caf::io::middleman>();
    register_message_types(*this);
    set("scheduler.max-threads", 2);
    set("middleman.workers", 0);
  }
};

// Through the wire's form and back.
caf::message there_and_back(const message_kind& kind, const caf::message& content) {
  link_message m;
  REQUIRE(encode(kind, content, m));
  const auto prefix = m.prefix();
  auto [payload, writable] = blob::uninitialised(payload_size(prefix));
  std::memset(writable, 0, payload.size());
  std::memcpy(writable, &prefix, sizeof prefix);
  auto at = sizeof prefix;
  std::memcpy(writable + at, m.text.data(), m.text.size());
  at += padded(m.text.size());
  if (!m.first.empty()) std::memcpy(writable + at, m.first.data(), m.first.size());
  at += padded(m.first.size());
  if (!m.second.empty()) std::memcpy(writable + at, m.second.data(), m.second.size());
  const auto parts = parts_of(payload);
  REQUIRE(parts.ok());
  auto back = decode(kind, *parts);
  REQUIRE(back.ok());
  return *std::move(back);
}

pb::PushHeader some_push() {
  pb::PushHeader h;
  h.set_shard(3);
  h.set_clock(77);
  return h;
}

}  // namespace

TEST_CASE("every kind is known by its number and its name, and answers have their kinds") {
  int requests = 0;
  for (std::uint16_t what = 1; what < 128; ++what) {
    const auto* kind = kind_by_number(what);
    if (kind == nullptr) continue;
    CHECK(kind->what == what);
    if (kind->is_answer) continue;
    ++requests;
    if (kind->answer != 0) {
      INFO(kind->name);
      REQUIRE(kind_by_number(kind->answer) != nullptr);
      CHECK(kind_by_number(kind->answer)->is_answer);
    }
  }
  CHECK(requests == 24);
  CHECK(kind_by_number(0) == nullptr);
  CHECK(kind_by_number(60000) == nullptr);
}

TEST_CASE("messages are the same behind the wire") {
  const auto push =
      caf::make_message(push_atom::value, some_push(), testing::bytes(16), testing::bytes(12));
  const auto* kind = kind_of_request(push);
  REQUIRE(kind != nullptr);
  CHECK(std::string(kind->name) == "push");
  const auto back = there_and_back(*kind, push);
  REQUIRE(back.size() == 4);
  CHECK(back.get_as<caf::atom_value>(0) == push_atom::value);
  CHECK(back.get_as<pb::PushHeader>(1).clock() == 77);
  CHECK(back.get_as<blob>(2) == testing::bytes(16));
  CHECK(back.get_as<blob>(3) == testing::bytes(12));

  pb::PullReply reply;
  reply.set_staleness(4);
  const auto answer =
      there_and_back(*kind_by_number(102), caf::make_message(reply, blob{}, testing::bytes(8)));
  CHECK(answer.get_as<pb::PullReply>(0).staleness() == 4);
  CHECK(answer.get_as<blob>(1).empty());

  // What never leaves a process has no kind.
  CHECK(kind_of_request(caf::make_message(tick_atom::value)) == nullptr);
  CHECK(kind_of_request(caf::make_message(done_atom::value, std::uint64_t{1})) == nullptr);
  CHECK(kind_of_request(caf::make_message(some_push())) == nullptr);
  link_message ignored;
  CHECK(!encode(*kind, caf::make_message(std::string("no push")), ignored));
}

TEST_CASE("each role may send its own kinds only, and speaks for itself alone") {
  const auto allowed = [](const caf::message& m, role_id from, pb::Role to) {
    const auto* kind = kind_of_request(m);
    REQUIRE(kind != nullptr);
    return !objection_to(*kind, m, from, to).has_value();
  };
  const auto push = caf::make_message(push_atom::value, some_push(), blob{}, blob{});
  CHECK(allowed(push, worker_role(0), pb::SERVER));
  CHECK(!allowed(push, server_role(0), pb::SERVER));
  CHECK(!allowed(push, {pb::ADMIN, 0}, pb::SERVER));
  CHECK(!allowed(push, worker_role(0), pb::SCHEDULER));
  const auto stop = caf::make_message(stop_atom::value, pb::StopJob{});
  CHECK(allowed(stop, {pb::ADMIN, 7}, pb::SCHEDULER));
  CHECK(!allowed(stop, worker_role(0), pb::SCHEDULER));
  CHECK(!allowed(stop, server_role(0), pb::SCHEDULER));
  const auto view = caf::make_message(view_atom::value, pb::View{});
  CHECK(allowed(view, the_scheduler, pb::SERVER));
  CHECK(!allowed(view, server_role(1), pb::SERVER));
  pb::Beat beat;
  beat.set_role(pb::SERVER);
  beat.set_index(3);
  const auto of_three = caf::make_message(beat_atom::value, beat);
  CHECK(allowed(of_three, server_role(3), pb::SCHEDULER));
  CHECK(!allowed(of_three, server_role(2), pb::SCHEDULER));
  pb::DrainNode drain;
  drain.set_role(pb::SERVER);
  drain.set_index(1);
  const auto of_one = caf::make_message(drain_atom::value, drain);
  CHECK(allowed(of_one, {pb::ADMIN, 0}, pb::SCHEDULER));
  CHECK(allowed(of_one, server_role(1), pb::SCHEDULER));
  CHECK(!allowed(of_one, server_role(0), pb::SCHEDULER));
  CHECK(!allowed(of_one, worker_role(1), pb::SCHEDULER));
}

namespace {

// A scheduler of which only the status is asked, and a worker's side that asks.
struct two_nodes {
  // Before the system, whose links tell of news until they have ended in its destructor.
  std::mutex mutex;
  std::vector<link_news> news;
  system_config config;
  caf::actor_system system{config};
  std::shared_ptr<local_directory> at_scheduler = std::make_shared<local_directory>(),
                                   at_worker = std::make_shared<local_directory>();
  listener open = *listen_at({"127.0.0.1", 0});
  caf::actor scheduler_links, worker_links;

  links_setup setup(const std::string& name, pb::Role role) {
    links_setup s;
    s.self = testing::hello_of(name, role);
    s.self.set_incarnation(1);
    s.limits.beat_every = 50ms;
    s.limits.silence = 2s;
    s.admit = testing::anybody();
    s.backoff = 10ms;
    s.on_news = [this](const link_news& n) {
      std::lock_guard guard(mutex);
      news.push_back(n);
    };
    return s;
  }
  caf::actor start(links_setup s) {
    return caf::actor_cast<caf::actor>(system.middleman().spawn_broker(links, std::move(s)));
  }
  void start_scheduler() {
    auto s = setup("scheduler", pb::SCHEDULER);
    s.directory = at_scheduler;
    s.listening = open.socket;
    scheduler_links = start(std::move(s));
  }
  void start_worker() {
    auto s = setup("worker-0", pb::WORKER);
    s.directory = at_worker;
    s.dials = {{the_scheduler, "scheduler", {"127.0.0.1", open.port}}};
    worker_links = start(std::move(s));
  }
  // Asks again until there is an answer of that kind.
  template <class Wanted>
  bool ask(Wanted wanted) {
    caf::scoped_actor me(system);
    for (int i = 0; i < 200; ++i) {
      bool found = false;
      if (auto target = at_worker->scheduler())
        me->request(target, 5s, status_atom::value, pb::StatusQuery{})
            .receive([&](const pb::JobStatus& s) { found = wanted(s, std::string()); },
                     [&](const caf::error& e) { found = wanted({}, system.render(e)); });
      if (found) return true;
      me->receive([](int) {}, caf::after(50ms) >> [] {});
    }
    return false;
  }
  ~two_nodes() {
    for (auto* one : {&scheduler_links, &worker_links})
      if (*one) caf::anon_send_exit(*one, caf::exit_reason::user_shutdown);
  }
};

caf::behavior status_only(caf::event_based_actor*) {
  return {[](status_atom, const pb::StatusQuery&) {
    pb::JobStatus s;
    s.set_job("over the wire");
    return s;
  }};
}

}  // namespace

TEST_CASE("a request goes over a connection and its answer comes back; a dead actor is an error") {
  two_nodes nodes;
  nodes.start_worker();  // before there is anybody to connect to
  nodes.start_scheduler();
  CHECK(nodes.ask([](const pb::JobStatus&, const std::string& why) {
    return why.find("its actor has not started") != std::string::npos;
  }));
  auto actor = nodes.system.spawn(status_only);
  nodes.at_scheduler->publish(the_scheduler, caf::actor_cast<caf::strong_actor_ptr>(actor));
  CHECK(nodes.ask(
      [](const pb::JobStatus& s, const std::string&) { return s.job() == "over the wire"; }));
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  actor = nullptr;
  CHECK(nodes.ask([](const pb::JobStatus&, const std::string& why) { return !why.empty(); }));
}

TEST_CASE("a link that breaks is made anew, and is gone from the directory meanwhile") {
  two_nodes nodes;
  nodes.start_scheduler();
  nodes.start_worker();
  auto actor = nodes.system.spawn(status_only);
  nodes.at_scheduler->publish(the_scheduler, caf::actor_cast<caf::strong_actor_ptr>(actor));
  const auto answered = [](const pb::JobStatus& s, const std::string&) {
    return s.job() == "over the wire";
  };
  REQUIRE(nodes.ask(answered));
  const auto old = nodes.at_worker->find(the_scheduler);
  caf::anon_send_exit(nodes.scheduler_links, caf::exit_reason::user_shutdown);
  caf::scoped_actor me(nodes.system);
  for (int i = 0; i < 200 && nodes.at_worker->find(the_scheduler) != nullptr; ++i)
    me->receive([](int) {}, caf::after(50ms) >> [] {});
  CHECK(nodes.at_worker->find(the_scheduler) == nullptr);
  // A handle from before answers at once, with an error.
  bool failed = false;
  me->request(caf::actor_cast<scheduler_actor>(old), 5s, status_atom::value, pb::StatusQuery{})
      .receive([](const pb::JobStatus&) {}, [&](const caf::error&) { failed = true; });
  CHECK(failed);
  nodes.open = *listen_at({"127.0.0.1", nodes.open.port});
  nodes.start_scheduler();
  CHECK(nodes.ask(answered));
  std::lock_guard guard(nodes.mutex);
  CHECK(std::any_of(nodes.news.begin(), nodes.news.end(),
                    [](const link_news& n) { return n.what == link_news::kind::lost; }));
}

TEST_CASE("a peer that stops reading costs what the bound allows, and whoever sends is told") {
  two_nodes nodes;
  auto s = nodes.setup("worker-0", pb::WORKER);
  s.directory = nodes.at_worker;
  s.dials = {{server_role(0), "server-0", {"127.0.0.1", nodes.open.port}}};
  s.limits.queue = 8 << 20;
  s.limits.window = 2 << 20;
  s.limits.silence = 60s;
  const auto gauge = s.gauge;
  const auto queue = s.limits.queue;
  nodes.worker_links = nodes.start(std::move(s));

  // The other side says who it is, and never reads again.
  pollfd waiting{nodes.open.socket, POLLIN, 0};
  REQUIRE(::poll(&waiting, 1, 20'000) == 1);
  const int peer = ::accept(nodes.open.socket, nullptr, nullptr);
  REQUIRE(peer >= 0);
  const auto hello = testing::hello_of("server-0", pb::SERVER).SerializeAsString();
  frame_header h;
  h.type = static_cast<std::uint8_t>(frame_type::hello);
  h.size = static_cast<std::uint32_t>(hello.size());
  REQUIRE(::send(peer, &h, sizeof h, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof h));
  REQUIRE(::send(peer, hello.data(), hello.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(hello.size()));
  caf::scoped_actor me(nodes.system);
  for (int i = 0; i < 400 && nodes.at_worker->find(server_role(0)) == nullptr; ++i)
    me->receive([](int) {}, caf::after(50ms) >> [] {});
  const auto server = nodes.at_worker->find(server_role(0));
  REQUIRE(server != nullptr);

  // 400 MB; all but what socket, window and queue hold is refused, at once.
  const auto values = testing::bytes(1 << 20);
  int refused = 0;
  auto pushes = nodes.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    for (int i = 0; i < 400; ++i)
      self->request(caf::actor_cast<troupe::server_actor>(server), caf::infinite, push_atom::value,
                    some_push(), blob{}, values)
          .then([](const pb::PushReply&) {}, [&](const caf::error&) { ++refused; });
    return {[&](status_atom) { return refused; }};
  });
  int so_far = 0;
  std::uint64_t most = 0;
  for (int i = 0; i < 400 && so_far < 300; ++i) {
    me->request(pushes, 20s, status_atom::value)
        .receive([&](int n) { so_far = n; }, [](const caf::error&) {});
    most = std::max<std::uint64_t>(most, gauge->queued);
    me->receive([](int) {}, caf::after(20ms) >> [] {});
  }
  CHECK(so_far >= 300);
  CHECK(most <= queue);
  // The connection ends, and so does every other request.
  ::close(peer);
  for (int i = 0; i < 400 && so_far < 400; ++i) {
    me->request(pushes, 20s, status_atom::value)
        .receive([&](int n) { so_far = n; }, [](const caf::error&) {});
    me->receive([](int) {}, caf::after(20ms) >> [] {});
  }
  CHECK(so_far == 400);
  caf::anon_send_exit(pushes, caf::exit_reason::user_shutdown);
  ::close(nodes.open.socket);
}
