#include "actors/links/quick_runner.hpp"

#include <caf/all.hpp>
#include <caf/ref_counted.hpp>

namespace troupe {
namespace {

constexpr std::size_t most_messages = 50;  // of a turn

}  // namespace

// The actor's next turn on one of the scheduler's threads, with a watch beside it.
class quick_runner::timed_turn final : public caf::resumable, public caf::ref_counted {
 public:
  timed_turn(caf::resumable* job, std::shared_ptr<pace> p, read_clock clock)
      : job_(job), pace_(std::move(p)), clock_(std::move(clock)) {}

  resume_result resume(caf::execution_unit* unit, std::size_t throughput) override {
    const auto begun = clock_();
    const auto outcome = job_->resume(unit, throughput);
    pace_->took(clock_() - begun);
    if (outcome == resume_later)
      unit->exec_later(job_);
    else
      caf::intrusive_ptr_release(job_);
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { ref(); }
  void intrusive_ptr_release_impl() override { deref(); }

 private:
  caf::resumable* job_;
  const std::shared_ptr<pace> pace_;
  const read_clock clock_;
};

void quick_runner::exec_later(caf::resumable* job) {
  if (job != mine_) return system().scheduler().enqueue(job);
  if (pace_->quick()) return jobs_.push_back(job);
  system().scheduler().enqueue(new timed_turn(job, pace_, clock_));  // which frees itself
}

void quick_runner::deliver(const caf::strong_actor_ptr& to, caf::mailbox_element_ptr what) {
  mine_ = dynamic_cast<caf::resumable*>(to->get());
  to->get()->enqueue(std::move(what), this);
  while (!jobs_.empty()) {
    auto* job = jobs_.back();
    jobs_.pop_back();
    run(job);
  }
  mine_ = nullptr;
}

void quick_runner::run(caf::resumable* job) {
  const auto begun = clock_();
  switch (job->resume(this, most_messages)) {
    case caf::resumable::resume_later:  // others wait for this thread
      system().scheduler().enqueue(job);
      break;
    case caf::resumable::shutdown_execution_unit:
      break;
    default:
      caf::intrusive_ptr_release(job);
  }
  pace_->took(clock_() - begun);
}

}  // namespace troupe
