// What is asked of the scheduler's actor, in a time of the test's own.
#include "actors/scheduler/scheduler_actor.hpp"

#include <doctest/doctest.h>

#include <caf/all.hpp>
#include <map>

#include "actors/supervision/directory.hpp"
#include "sim/engine/virtual_system.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/toy_job.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

class timers final : public sim::timer_sink {
 public:
  void on_timer(instant due, caf::strong_actor_ptr receiver, caf::mailbox_element_ptr what,
                bool cancellable) override {
    if (!cancellable) all_.emplace(due, timer{std::move(receiver), std::move(what)});
  }
  void run(sim::virtual_system& system, duration until) {
    const instant end{until.count()};
    system.run_ready();
    while (!all_.empty() && !(end < all_.begin()->first)) {
      auto next = all_.extract(all_.begin());
      system.move_to(next.key());
      next.mapped().receiver->enqueue(std::move(next.mapped().what), nullptr);
      system.run_ready();
    }
    system.move_to(end);
  }

 private:
  struct timer {
    caf::strong_actor_ptr receiver;
    caf::mailbox_element_ptr what;
  };
  std::multimap<instant, timer> all_;
};

// A disk that works when it is told to.
class slow_disk final : public background {
 public:
  bool run(job work, job after) override {
    jobs_.push_back({std::move(work), std::move(after)});
    return true;
  }
  void work() {
    for (auto& [work, after] : std::exchange(jobs_, {})) {
      work();
      after();
    }
  }

 private:
  std::vector<std::pair<job, job>> jobs_;
};

// A scheduler that nobody joins.
class lonely_scheduler {
 public:
  // `state_folder`: of its log; empty: it has none.
  explicit lonely_scheduler(const std::string& state_folder = {}) {
    environment env;
    env.role = the_scheduler;
    env.find = std::make_shared<local_directory>();
    env.files = posix_file_system();
    env.io = disk_;
    scheduler_setup setup;
    setup.state_folder = state_folder;
    setup.job.plan = plan_of({});
    setup.scores = std::make_shared<no_evaluation>();
    scheduler_ = system_.actors().spawn(scheduler, env, setup);
  }
  ~lonely_scheduler() {
    caf::anon_send_exit(scheduler_, caf::exit_reason::user_shutdown);
    system_.run_ready();
  }

  struct answer {
    instant at;
    pb::JobStatus status;
  };
  // The answer, once it is there.
  std::shared_ptr<std::optional<answer>> ask(duration wait) {
    auto box = std::make_shared<std::optional<answer>>();
    pb::StatusQuery query;
    query.set_wait_ns(static_cast<std::uint64_t>(wait.count()));
    system_.actors().spawn([box, query, to = scheduler_](caf::event_based_actor* self) {
      self->request(to, caf::infinite, status_atom::value, query)
          .then([box, self](const pb::JobStatus& status) {
            *box = answer{now_of(self), status};
          });
    });
    system_.run_ready();
    return box;
  }
  void stop() {
    caf::anon_send(scheduler_, stop_atom::value, pb::StopJob{});
    system_.run_ready();
  }
  void let_disk_work() {
    disk_->work();
    system_.run_ready();
  }
  void run(duration until) { timers_.run(system_, until); }

 private:
  const std::shared_ptr<slow_disk> disk_ = std::make_shared<slow_disk>();
  timers timers_;
  sim::virtual_system system_{timers_};
  scheduler_actor scheduler_;
};

}  // namespace

TEST_CASE("who waits for a job's end is answered when it ends, or when the wait is over") {
  lonely_scheduler here;
  const auto at_once = here.ask(0s);
  REQUIRE(at_once->has_value());
  CHECK((*at_once)->status.phase() == pb::JobStatus::GATHERING);

  const auto patient = here.ask(10s);
  here.run(9900ms);
  CHECK_FALSE(patient->has_value());
  here.run(10100ms);
  REQUIRE(patient->has_value());
  CHECK((*patient)->status.phase() == pb::JobStatus::GATHERING);

  const auto lucky = here.ask(10s);
  here.run(12s);
  CHECK_FALSE(lucky->has_value());
  here.stop();
  REQUIRE(lucky->has_value());
  CHECK((*lucky)->status.phase() == pb::JobStatus::FAILED);
  CHECK((*lucky)->at.ns == duration(12s).count());

  const auto late = here.ask(10s);
  REQUIRE(late->has_value());
  CHECK((*late)->status.phase() == pb::JobStatus::FAILED);
}

TEST_CASE("an end is told when it is written down, and not before") {
  const temporary_folder folder;
  lonely_scheduler here(folder / "log");
  for (int i = 0; i < 3; ++i) here.let_disk_work();  // what begins a log
  const auto waits = here.ask(30s);
  here.stop();
  CHECK_FALSE(waits->has_value());
  here.let_disk_work();
  REQUIRE(waits->has_value());
  CHECK((*waits)->status.phase() == pb::JobStatus::FAILED);
}

TEST_CASE("waits for a job's end have a bound, in number and in length") {
  lonely_scheduler here;
  std::vector<std::shared_ptr<std::optional<lonely_scheduler::answer>>> all;
  for (int i = 0; i < 65; ++i) all.push_back(here.ask(i == 0 ? duration(-1) : 24h));
  for (int i = 0; i < 64; ++i) CHECK_FALSE(all[i]->has_value());
  CHECK(all[64]->has_value());
  here.run(61s);
  for (const auto& one : all) CHECK(one->has_value());
}
