#pragma once
// What a node gives each of its actors: the seams to everything that is not its own state.

#include <caf/actor_clock.hpp>
#include <caf/error.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/sec.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "actors/supervision/landmarks.hpp"
#include "core/background.hpp"
#include "core/file.hpp"
#include "core/meter.hpp"
#include "core/time.hpp"
#include "messages/resolver.hpp"
#include "messages/roles.hpp"

namespace troupe {

struct environment {
  role_id role;
  std::uint64_t incarnation = 1;
  std::shared_ptr<const resolver> find;
  std::shared_ptr<file_system> files;
  std::shared_ptr<background> io;
  std::shared_ptr<meter> work_done;
  std::shared_ptr<landmarks> marks;  // null: nobody listens
  duration tick = std::chrono::milliseconds(50);
  duration request_timeout = std::chrono::seconds(2);  // of control requests
};

inline void pass(const environment& env, const char* which) {
  if (env.marks) env.marks->passed(which);
}

// The actor's clock, which in virtual time is the simulator's.
template <class Self>
instant now_of(Self* self) {
  return {std::chrono::duration_cast<duration>(self->clock().now().time_since_epoch()).count()};
}

// An exception ends the actor; this keeps what it said, for the supervisor's report.
template <class Self>
void keep_exception_text(Self* self) {
  self->set_exception_handler([](std::exception_ptr& thrown) -> caf::error {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      return caf::make_error(caf::sec::runtime_error, std::string(e.what()));
    } catch (...) {
      return caf::sec::runtime_error;
    }
  });
}

}  // namespace troupe
