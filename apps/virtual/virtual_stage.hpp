#pragma once
// A cluster in virtual time as whoever directs it sees it: a chaos run, that strikes where and when
// it likes.

#include <functional>
#include <optional>

#include "messages/control.pb.h"
#include "sim/engine/simulation.hpp"

namespace troupe {

class virtual_stage {
 public:
  using on_landmark_call = std::function<void(sim::node_number, const char* which)>;

  virtual ~virtual_stage() = default;
  virtual sim::simulation& sim() = 0;
  virtual const sim::cast_of_nodes& cast() const = 0;
  // What the scheduler said last, with its view; nothing yet if it has never answered.
  virtual const std::optional<pb::JobStatus>& status() const = 0;
  // When it said that.
  virtual instant status_at() const = 0;
  // Which life of the node began last.
  virtual std::uint64_t incarnation(sim::node_number n) const = 0;
  // The job counts as failed when it has not ended by then.
  virtual void set_time_limit(instant t) = 0;
  // Another life of a node begins, whether or not an earlier one still lives.
  virtual void begin_life(sim::node_number n) = 0;
  virtual void drain(sim::node_number n) = 0;
  virtual void rebalance() = 0;
  // Asks to be let in, as a node of this role with another protocol's version. `answer` gets what
  // the scheduler says, if it says anything.
  virtual void knock(role_id as, std::uint32_t protocol,
                     std::function<void(const pb::JoinReply&)> answer) = 0;
  // Called in the turn of a node that passes a named state of the protocol.
  virtual void listen(on_landmark_call to) = 0;
};

}  // namespace troupe
