#pragma once
// Where blocking file work of an actor goes: `run(job)` executes the job away from the actors'
// threads. The job itself sends its outcome to whoever asked. In virtual time the job runs at once
// and its outcome is delayed as modelled.

#include <functional>
#include <memory>

namespace troupe {

class background {
 public:
  using job = std::function<void()>;
  virtual ~background() = default;  // waits for the job under way, drops those not begun
  // False when `limit` jobs are waiting already: nothing was queued, ask again later.
  virtual bool run(job work) = 0;
};

// One thread, which executes jobs in the order they came.
std::unique_ptr<background> background_thread(std::size_t limit = 1024);

}  // namespace troupe
