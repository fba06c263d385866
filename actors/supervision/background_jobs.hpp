#pragma once
// An actor's file work in the background. The job's outcome is kept here, by number, and the actor
// is told the number by a message to itself: whatever the outcome, an exception too, it is met in
// the actor's own turn.

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/background.hpp"

namespace troupe {

class background_jobs {
 public:
  using notify = std::function<void(std::uint64_t)>;  // called on the background's thread

  // `job` runs elsewhere and may touch only what it captured; `then` gets its outcome from
  // finished(). False, and nothing will happen, when the background has too much to do.
  template <class Job, class Then>
  bool run(background& where, Job job, Then then, notify tell) {
    struct box {
      std::optional<decltype(job())> outcome;
      std::exception_ptr thrown;
    };
    const auto number = next_++;
    auto kept = std::make_shared<box>();
    waiting_.emplace(number, [kept, then = std::move(then)]() mutable {
      if (kept->thrown) std::rethrow_exception(kept->thrown);
      then(std::move(*kept->outcome));
    });
    const bool taken = where.run(
        [kept, job = std::move(job)] {
          try {
            kept->outcome.emplace(job());
          } catch (...) {
            kept->thrown = std::current_exception();
          }
        },
        [number, tell = std::move(tell)] { tell(number); });
    if (!taken) waiting_.erase(number);
    return taken;
  }

  void finished(std::uint64_t number) {
    auto node = waiting_.extract(number);
    if (!node.empty()) node.mapped()();
  }

 private:
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::function<void()>> waiting_;
};

}  // namespace troupe
