#pragma once
// What a learning program is to a worker. A program is a plain class that talks to a session; it
// never waits: it asks, and goes on in the callback. The same program runs in every stage.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/worker/client.hpp"
#include "core/blob.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

// What a program may do besides computing.
class session {
 public:
  using work_item = std::function<result<void>()>;
  using on_read_done = std::function<void(result<void>)>;

  virtual ~session() = default;
  virtual kv_client& kv() = 0;
  // Runs `job` (file reading) away from the actors' threads, then `then` here. `job` may touch only
  // what it captured.
  virtual void read(work_item job, on_read_done then) = 0;
  // Ends the slot, or the evaluation, with an error.
  virtual void fail(error why) = 0;
};

// What a slot learned in one clock.
struct clock_report {
  std::uint64_t examples = 0;
  double loss = 0;    // sum of weighted losses, each before its own clock's update
  double weight = 0;  // sum of example weights
};

class slot_session : public virtual session {
 public:
  // Sends a push of the present clock. The program ends the clock with end_clock() after its last
  // one.
  // `told` is for the table's function.
  virtual void push(std::size_t table, key_set keys, blob values, double share,
                    std::vector<double> told = {}) = 0;
  virtual void end_clock(const clock_report& report) = 0;
  // What the scheduler wants of a clock that is not beyond the slot's limit.
  virtual pb::Stage stage(std::uint64_t clock) const = 0;
};

// One slot's work.
class slot_program {
 public:
  virtual ~slot_program() = default;
  virtual std::uint64_t clocks() const = 0;  // may be 0
  virtual std::uint64_t examples_before(
      std::uint64_t clock) const = 0;  // in the clocks below `clock`
  // Does clock `clock`, from any state: clocks come in order, but the first may be any (a slot
  // taken over).
  virtual void run(slot_session& session, std::uint64_t clock) = 0;
  // A push of that clock has been acknowledged, or refused: it counts, once, whatever happens.
  virtual void on_pushed(std::uint64_t /*clock*/, std::size_t /*table*/, bool /*rejected*/) {}
};

// One part of a data set, scored with the model as it is.
class evaluation_program {
 public:
  // Scores: (score, label, weight), f64 each, to a row in the data set's order.
  using on_scored = std::function<void(pb::EvaluatedPart, blob scores)>;
  virtual ~evaluation_program() = default;
  virtual void run(session& session, on_scored done) = 0;
};

// Makes the programs of a worker.
class application {
 public:
  virtual ~application() = default;
  // `work_done` is the node's meter; it outlives the program.
  virtual std::unique_ptr<slot_program> slot(std::uint32_t slot, meter& work_done) = 0;
  virtual result<std::unique_ptr<evaluation_program>> evaluation(const pb::EvaluateTask& task,
                                                                 meter& work_done) = 0;
};

}  // namespace troupe
