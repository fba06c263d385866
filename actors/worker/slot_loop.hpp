#pragma once
// One slot from its assignment to its finish: take the slot over at every shard, learn the numbers,
// then clock after clock let the program pull, compute and push; at the end, or when told to stop,
// send the finish. A plain class: the worker actor carries its messages and its time.
//
// Invariants
// - No clock begins before every shard has installed the slot's epoch, at all its copies, and told
//   its number; the slot goes on at the lowest of these numbers, and shards that are ahead
//   acknowledge what they have.
// - At most `window` clocks are unacknowledged.
// - A slot that meets a newer life of itself falls silent: it neither fails the job nor reports.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/worker/conversation.hpp"
#include "actors/worker/faults.hpp"
#include "actors/worker/program.hpp"
#include "messages/control.pb.h"

namespace troupe {

struct slot_settings {
  slot_identity slot;
  client_settings client;
  std::uint32_t window = 4;
};

// A request to take the slot over at a shard.
struct adoption {
  std::uint32_t server = 0;
  pb::AdoptSlot request;
};

class slot_loop final : public conversation, public slot_session {
 public:
  enum class state { adopting, running, finishing, finished, fenced, failed };

  slot_loop(slot_settings settings, std::vector<table_shape> tables, view present,
            std::unique_ptr<slot_program> program, fault_switches& faults, meter& work_done);

  // Inputs beside those of a conversation.
  void start(instant now);
  void stop(instant now);  // after the present clock
  // Halts before that clock; none: at no clock. Within a life a limit only rises: an earlier one
  // was late.
  void halt_at(std::optional<std::uint64_t> limit, instant now);
  // From their clocks on; before halt_at().
  void go_by(const google::protobuf::RepeatedPtrField<pb::Stage>& stages);
  void on_numbers(std::uint32_t shard, const pb::SlotNumbers& numbers, instant now);
  void on_adopt_failure(std::uint32_t shard, instant now);

  // Outputs beside those of a conversation.
  std::vector<adoption> take_adoptions();
  std::optional<instant> next_wake() const override;

  state present_state() const { return state_; }
  // At its limit, and all that it pushed is acknowledged.
  bool halted() const;
  std::uint64_t clock() const { return clock_; }
  const error& failure() const { return failure_; }
  slot_identity identity() const { return settings_.slot; }
  pb::SlotProgress progress() const;

  // slot_session, for the program.
  void fail(error why) override;
  void push(std::size_t table, key_set keys, blob values, double share,
            std::vector<double> told) override;
  void end_clock(const clock_report& report) override;
  pb::Stage stage(std::uint64_t clock) const override;

 private:
  struct kept_push {
    std::size_t table;
    key_set keys;
    blob values;
    double share;
    std::vector<double> told;
  };
  void go_on() override;
  void due(instant now) override;
  void view_changed() override;
  void adopt_everywhere();
  void resume();
  bool at_limit() const { return limit_ && clock_ >= *limit_; }
  bool may_begin_clock() const;
  void send_kept(bool last);
  void on_pushed(std::uint64_t clock, std::size_t table, const result<pushed>& outcome);
  std::string not_adopted_by() const;

  const slot_settings settings_;
  const std::unique_ptr<slot_program> program_;
  fault_switches& faults_;
  state state_ = state::adopting;
  error failure_;

  std::map<std::uint32_t, std::optional<pb::SlotNumbers>> numbers_;  // by shard
  std::vector<std::uint32_t> adoptions_;
  instant adopted_by_;  // the patience of taking the slot over ends
  std::map<std::uint32_t, std::pair<std::uint32_t, instant>> adopt_again_;  // failures, when

  std::uint64_t clock_ = 0;
  std::optional<std::uint64_t> limit_;         // the clock that must not begin
  std::map<std::uint64_t, pb::Stage> stages_;  // by first clock
  std::optional<std::uint64_t> finish_at_;     // where an earlier life has finished
  bool stopping_ = false;
  bool clock_is_open_ = false;  // its program has been started
  std::optional<instant> delayed_until_;
  std::optional<kept_push>
      kept_;  // the clock's latest push, until it is known whether it is the last

  pb::SlotProgress progress_;
};

}  // namespace troupe
