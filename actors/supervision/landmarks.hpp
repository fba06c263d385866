#pragma once
// Named states of the protocol. A node that passes one says so to whoever wants to know: a test, or
// a chaos scenario, that strikes exactly there. Nobody listens in an ordinary run.

namespace troupe {

namespace landmark {
// At a server.
constexpr const char* push_gathered = "a push is gathered and not applied";
constexpr const char* push_applied = "a push is applied and not passed on";
constexpr const char* copy_applied = "a copy has applied what it was passed";
constexpr const char* copy_confirmed = "all copies have it, and the push is not acknowledged";
constexpr const char* hand_over_begins = "a hand-over begins";
constexpr const char* hand_over_goes_on = "a hand-over goes on";
constexpr const char* hand_over_ends = "a hand-over ends";
constexpr const char* copy_filled = "a copy that joins has everything";
constexpr const char* promoted = "a copy becomes the primary";
constexpr const char* shard_split = "a shard is split";
constexpr const char* shard_still = "a shard's copies are equal, and may change places";
constexpr const char* view_installed = "a view is installed";
constexpr const char* slot_adopted = "a slot's new life is installed";
constexpr const char* snapshot_begun = "a snapshot is begun";
constexpr const char* snapshot_piece = "a piece of a snapshot is read";
constexpr const char* snapshot_over = "a snapshot is written";
constexpr const char* rows_loaded = "rows have been loaded";
// At the scheduler.
constexpr const char* view_made = "a view is made and not published";
constexpr const char* view_published = "a view is published";
constexpr const char* slots_assigned = "slots are assigned";
constexpr const char* checkpoint_begun = "a checkpoint is begun";
constexpr const char* checkpoint_written = "a checkpoint is written and does not count";
constexpr const char* checkpoint_counts = "a checkpoint counts";
constexpr const char* evaluating = "the model is evaluated";
constexpr const char* saving = "the model is saved";
// At a worker.
constexpr const char* push_sent = "a push is sent";
constexpr const char* slot_finished = "a slot has finished";

constexpr const char* all[] = {
    push_gathered,     push_applied,       copy_applied,      copy_confirmed, hand_over_begins,
    hand_over_goes_on, hand_over_ends,     copy_filled,       promoted,       shard_split,
    shard_still,       view_installed,     slot_adopted,      snapshot_begun, snapshot_piece,
    snapshot_over,     rows_loaded,        view_made,         view_published, slots_assigned,
    checkpoint_begun,  checkpoint_written, checkpoint_counts, evaluating,     saving,
    push_sent,         slot_finished};
}  // namespace landmark

class landmarks {
 public:
  virtual ~landmarks() = default;
  virtual void passed(const char* which) = 0;
};

}  // namespace troupe
