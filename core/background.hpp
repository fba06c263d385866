#pragma once
// Where blocking file work of an actor goes: `run(work, after)` executes the work away from the
// actors' threads, and then `after`, which tells whoever asked. In virtual time the work is done at
// once, and `after` comes as much later as the modelled disk took.

#include <functional>
#include <memory>

namespace troupe {

class background {
 public:
  using job = std::function<void()>;
  virtual ~background() = default;  // waits for the job under way, drops those not begun
  // False when `limit` jobs are waiting already: nothing was queued, ask again later.
  virtual bool run(job work, job after) = 0;
};

// One thread, which executes jobs in the order they came.
std::unique_ptr<background> background_thread(std::size_t limit = 1024);

}  // namespace troupe
