#pragma once
// The slots of a job as the scheduler sees them: who owns each, in which life, and what each has
// reported in all lives.

#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "messages/control.pb.h"

namespace troupe {

class slot_board {
 public:
  explicit slot_board(std::uint32_t slots) : entries_(slots) {}

  std::uint32_t slots() const { return static_cast<std::uint32_t>(entries_.size()); }
  std::uint32_t owner(std::uint32_t slot) const { return entries_[slot].worker; }
  std::uint64_t epoch(std::uint32_t slot) const { return entries_[slot].epoch; }
  bool finished(std::uint32_t slot) const { return entries_[slot].present.finished(); }
  bool all_finished() const;
  // Every slot has finished, or has halted before `clock` with all acknowledged.
  bool all_wait_at(std::uint64_t clock) const;
  std::uint64_t clock(std::uint32_t slot) const { return entries_[slot].present.clock(); }
  // It has halted before `clock`.
  bool waits_at(std::uint32_t slot, std::uint64_t clock) const {
    return entries_[slot].present.halted() && entries_[slot].present.clock() >= clock;
  }
  // It waits before an earlier clock.
  bool halted_below(std::uint32_t slot, std::uint64_t clock) const {
    return entries_[slot].present.halted() && entries_[slot].present.clock() < clock;
  }
  std::uint64_t largest_clock() const;
  std::uint64_t smallest_clock() const;  // of those that have not finished

  // The job goes back: all slots stand at `clock`, and none has finished.
  void go_back_to(std::uint64_t clock);
  // Servers know a life of the slot with this epoch; those to come have higher ones.
  void outlive(std::uint32_t slot, std::uint64_t epoch);
  // As it was before the scheduler started again.
  void take_up(std::uint32_t slot, std::uint32_t worker, std::uint64_t epoch,
               const pb::SlotProgress& total, instant now);

  // Gives the slot to a worker in a new life; returns the life's epoch. What the old life reported
  // stays counted.
  std::uint64_t assign(std::uint32_t slot, std::uint32_t worker, instant now);
  // False for a report of an old life.
  bool report(const pb::SlotProgress& progress, instant now);
  instant heard(std::uint32_t slot) const { return entries_[slot].heard; }
  void touch(std::uint32_t slot, instant now) { entries_[slot].heard = now; }

  // The slot over all its lives.
  pb::SlotProgress total(std::uint32_t slot) const;

 private:
  struct entry {
    std::uint32_t worker = 0;
    std::uint64_t epoch = 0;     // 0: nobody was given it yet
    std::uint64_t outlived = 0;  // of a life that servers know of from a checkpoint
    instant heard;
    pb::SlotProgress earlier;  // summed over lives that have ended
    pb::SlotProgress present;
  };
  std::vector<entry> entries_;
};

}  // namespace troupe
