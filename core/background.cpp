#include "core/background.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

class job_queue {
 public:
  explicit job_queue(std::size_t limit) : limit_(limit) {}

  bool push(background::job work) {
    std::lock_guard guard(mutex_);
    if (ended_ || jobs_.size() >= limit_) return false;
    jobs_.push_back(std::move(work));
    changed_.notify_one();
    return true;
  }

  // Empty when the queue has been ended.
  background::job pop() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return ended_ || !jobs_.empty(); });
    if (ended_) return {};
    auto next = std::move(jobs_.front());
    jobs_.pop_front();
    return next;
  }

  void end() {
    std::deque<background::job>
        dropped;  // destroyed after the lock is given up: a job may own anything
    std::lock_guard guard(mutex_);
    ended_ = true;
    dropped.swap(jobs_);
    changed_.notify_all();
  }

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<background::job> jobs_;
  bool ended_ = false;
};

class thread_background final : public background {
 public:
  explicit thread_background(std::size_t limit)
      : queue_(std::make_shared<job_queue>(limit)), thread_([queue = queue_] {
          while (auto next = queue->pop()) next();
        }) {}

  // A job may hold the last reference to whoever owns this object, and then the thread ends itself:
  // it must not wait for itself, and it lives on the queue that it shares.
  ~thread_background() override {
    queue_->end();
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }

  bool run(job work, job after) override {
    return queue_->push([work = std::move(work), after = std::move(after)] {
      work();
      after();
    });
  }

 private:
  std::shared_ptr<job_queue> queue_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<background> background_thread(std::size_t limit) {
  return std::make_unique<thread_background>(limit);
}

}  // namespace troupe
