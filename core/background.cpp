#include "core/background.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

class thread_background final : public background {
 public:
  explicit thread_background(std::size_t limit) : limit_(limit), thread_([this] { serve(); }) {}

  ~thread_background() override {
    {
      std::lock_guard guard(mutex_);
      ending_ = true;
      jobs_.clear();
    }
    changed_.notify_one();
    thread_.join();
  }

  bool run(job work) override {
    {
      std::lock_guard guard(mutex_);
      if (ending_ || jobs_.size() >= limit_) return false;
      jobs_.push_back(std::move(work));
    }
    changed_.notify_one();
    return true;
  }

 private:
  void serve() {
    for (;;) {
      job next;
      {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [this] { return ending_ || !jobs_.empty(); });
        if (ending_) return;
        next = std::move(jobs_.front());
        jobs_.pop_front();
      }
      next();
    }
  }

  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<background> background_thread(std::size_t limit) {
  return std::make_unique<thread_background>(limit);
}

}  // namespace troupe
