#pragma once
// What a shard knows of each slot: which life of it may speak (epoch), which push it takes next,
// and whether it has finished. Every shard gets every number once, possibly of an empty push.
//
// A push's number is (clock, index); the last index of a clock is flagged. A slot's clock is the
// number of clocks that it has completed here, which is the clock of its next minibatch.

#include <cstdint>
#include <limits>
#include <vector>

namespace troupe {

struct push_number {
  std::uint64_t clock = 0;
  std::uint32_t index = 0;
  friend bool operator<(push_number a, push_number b) {
    return a.clock != b.clock ? a.clock < b.clock : a.index < b.index;
  }
  friend bool operator==(push_number a, push_number b) {
    return a.clock == b.clock && a.index == b.index;
  }
};

enum class arrival {
  next,       // the one that is due
  repeated,   // taken before
  too_early,  // one before it has not arrived
  fenced,     // from a life of the slot that has been replaced
  unknown,    // the shard was restored and does not know where the slot stands
};

struct slot_record {
  push_number next;
  std::uint64_t epoch = 0;
  bool finished = false;
  bool unknown = false;
};

class slot_ledger {
 public:
  static constexpr std::uint64_t nobody = std::numeric_limits<std::uint64_t>::max();

  explicit slot_ledger(std::uint32_t slots) : records_(slots) {}

  std::uint32_t slots() const { return static_cast<std::uint32_t>(records_.size()); }
  arrival classify(std::uint32_t slot, std::uint64_t epoch, push_number number) const;
  // Marks `number`, which must be the next, as taken.
  void take(std::uint32_t slot, push_number number, bool last);
  // The slot's last push of all has arrived: it no longer counts from its clock on.
  void finish(std::uint32_t slot);

  // Installs an epoch; false when a higher one is installed already (an equal one is fine: adoption
  // may be repeated).
  bool adopt(std::uint32_t slot, std::uint64_t epoch);

  // As another copy or a checkpoint has it. An epoch only rises.
  void set(std::uint32_t slot, slot_record r);
  // Says where an unknown slot stands.
  void set_base(std::uint32_t slot, push_number next);
  // An unknown slot has at least so many clocks behind it; others do not wait for it below that.
  void raise_unknown(std::uint32_t slot, std::uint64_t clock);
  const slot_record& record(std::uint32_t slot) const { return records_[slot]; }

  push_number next(std::uint32_t slot) const { return records_[slot].next; }
  std::uint64_t clock(std::uint32_t slot) const { return records_[slot].next.clock; }
  std::uint64_t epoch(std::uint32_t slot) const { return records_[slot].epoch; }
  bool finished(std::uint32_t slot) const { return records_[slot].finished; }

  // The lowest clock of the slots that have not finished; `nobody` when all have. O(1).
  std::uint64_t slowest() const { return slowest_; }
  // Number of slots that have completed clock `clock` (and so took part in it).
  std::uint32_t beyond(std::uint64_t clock) const;
  // The unfinished slots below `clock`, at most `limit` of them.
  std::vector<std::uint32_t> below(std::uint64_t clock, std::size_t limit) const;

 private:
  void update_slowest(std::uint64_t left);
  void recount();
  std::vector<slot_record> records_;
  std::uint64_t slowest_ = 0;
  std::uint32_t at_slowest_ =
      static_cast<std::uint32_t>(records_.size());  // unfinished slots at slowest_
};

}  // namespace troupe
