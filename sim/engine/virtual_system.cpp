#include "sim/engine/virtual_system.hpp"

#include <caf/all.hpp>
#include <caf/detail/test_actor_clock.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <set>
#include <utility>

#include "messages/registration.hpp"

namespace troupe::sim {
namespace {

class virtual_clock final : public caf::detail::test_actor_clock {
 public:
  explicit virtual_clock(timer_sink& timers) : timers_(timers) {}

  instant now_instant() const {
    return {std::chrono::duration_cast<duration>(current_time.time_since_epoch()).count()};
  }

  void schedule_message(time_point t, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override {
    timers_.on_timer(instant_of(t), std::move(receiver), std::move(content), false);
  }

  void set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) override {
    caf::strong_actor_ptr receiver{self->ctrl()};
    wanted_.emplace(self->id(), id.integer_value());
    auto timeout = caf::make_mailbox_element(receiver, id, caf::no_stages,
                                             caf::make_error(caf::sec::request_timeout));
    timers_.on_timer(instant_of(t), std::move(receiver), std::move(timeout), true);
  }

  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override {
    wanted_.erase({self->id(), id.integer_value()});
  }

  void cancel_timeouts(caf::abstract_actor* self) override {
    test_actor_clock::cancel_timeouts(self);
    wanted_.erase(wanted_.lower_bound({self->id(), 0}),
                  wanted_.upper_bound({self->id(), UINT64_MAX}));
  }

  bool fires(caf::actor_id who, caf::message_id id) {
    return wanted_.erase({who, id.integer_value()}) > 0;
  }

 private:
  static instant instant_of(time_point t) {
    return {std::chrono::duration_cast<duration>(t.time_since_epoch()).count()};
  }

  timer_sink& timers_;
  std::set<std::pair<caf::actor_id, std::uint64_t>> wanted_;  // request timeouts
};

}  // namespace

// CAF's testing scheduler with the clock above.
class virtual_scheduler final : public caf::scheduler::test_coordinator {
 public:
  virtual_scheduler(caf::actor_system& system, timer_sink& timers)
      : test_coordinator(system), clock_(timers) {}
  virtual_clock& clock() noexcept override { return clock_; }

 private:
  virtual_clock clock_;
};

virtual_system::virtual_system(timer_sink& timers) {
  register_message_types(config_);
  config_.module_factories.push_back([this, &timers](caf::actor_system& system) {
    scheduler_ = new virtual_scheduler(system, timers);  // the system owns it
    return scheduler_;
  });
  system_ = std::make_unique<caf::actor_system>(config_);
  system_->await_actors_before_shutdown(false);
}

virtual_system::~virtual_system() = default;

instant virtual_system::now() const {
  return scheduler_->clock().now_instant();
}

void virtual_system::move_to(instant t) {
  scheduler_->clock().current_time = caf::actor_clock::time_point(
      std::chrono::duration_cast<caf::actor_clock::duration_type>(duration(t.ns)));
}

void virtual_system::run_ready() {
  if (!clock_of_) {
    scheduler_->run();
    return;
  }
  const auto here = now();
  while (scheduler_->has_job()) {
    const auto& next = scheduler_->next_job<caf::resumable>();
    if (next.subtype() == caf::resumable::scheduled_actor)
      move_to(clock_of_(static_cast<const caf::scheduled_actor&>(next).id()));
    scheduler_->run_once();
  }
  move_to(here);
}

void virtual_system::set_clock_of(std::function<instant(caf::actor_id)> clock_of) {
  clock_of_ = std::move(clock_of);
}

bool virtual_system::fires(const caf::strong_actor_ptr& receiver, caf::message_id id) {
  return scheduler_->clock().fires(receiver->id(), id);
}

}  // namespace troupe::sim
