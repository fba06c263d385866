#pragma once
// A shard of the tables without its actor: rows, the slots' numbers and clocks, the rules of
// consistency, and its place in a chain of copies. Requests go in with an asker's number and the
// time; answers come out, for this asker or for others that were being held, and changes for the
// next copy.
//
// Invariants
// - A push is taken only if it is its slot's next; a repeated one is acknowledged once applied, and
//   never applied again.
// - Nothing is acknowledged before all copies in sync have it. What is passed on are results: rows,
//   optimiser state, numbers; so a copy that takes over knows exactly what it has.
// - Pushes that wait for the rest of their clock are no state: they are not passed on, and whoever
//   sent them sends them again.
// - Bulk-synchronous (staleness 0): nothing of clock c is applied before every active slot has sent
//   all of it; then it is applied in table, slot and index order. A pull at clock c reads exactly
//   version c, once all copies have it; it stays readable until clock c + 1 is applied, because a
//   slot taken over after a crash asks for it again.
// - Bounded delay n: a pull at clock c waits until every active slot has completed clock c - n - 1.
//   If any table combines by sum or mean, all step clock by clock; else pushes are applied on
//   arrival.
// - A primary answers only while it has leave to (its lease), and after a promotion only when what
//   it has is at all its copies. Until then requests are parked.
// - Nothing is held beyond the deadline its asker named; then the answer says whom it waits for.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/server/copy_link.hpp"
#include "actors/server/gathering.hpp"
#include "actors/server/slot_ledger.hpp"
#include "actors/server/snapshot.hpp"
#include "actors/server/table/table.hpp"
#include "actors/supervision/landmarks.hpp"
#include "core/blob.hpp"
#include "core/meter.hpp"
#include "core/time.hpp"
#include "messages/control.pb.h"
#include "messages/data.pb.h"
#include "messages/view.hpp"

namespace troupe {

using asker = std::uint64_t;

struct push_answer {
  asker to = 0;
  pb::PushReply reply;
};
struct pull_answer {
  asker to = 0;
  pb::PullReply reply;
  blob keys;  // of a range pull
  blob values;
};
struct adopt_answer {
  asker to = 0;
  pb::SlotNumbers reply;
};
struct copy_answer {
  asker to = 0;
  pb::CopyReply reply;
};
// Changes for the next copy; its answer comes back through on_copied() or on_copy_failure().
struct copy_message {
  std::uint32_t to = 0;  // server
  pb::CopyHeader header;
  blob keys, rows;
};
struct answers {
  std::vector<push_answer> pushes;
  std::vector<pull_answer> pulls;
  std::vector<adopt_answer> adoptions;
  std::vector<copy_answer> copies;
  std::vector<copy_message> changes;
};

template <class Reply>
Reply with_outcome(pb::Outcome outcome, std::string text = {}) {
  Reply reply;
  reply.set_outcome(outcome);
  reply.set_text(std::move(text));
  return reply;
}

inline bool strictly_ascending(span<const position> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i - 1] >= keys[i]) return false;
  return true;
}

// What the asker names, within reason.
template <class Header>
duration hold_of(const Header& header) {
  constexpr duration longest = std::chrono::hours(1);
  return std::clamp(duration(header.hold_ns()), duration::zero(), longest);
}

struct shard_settings {
  std::uint32_t server = 0;
  std::uint32_t slots = 1;
  std::optional<std::uint64_t> staleness = 0;  // nullopt: unbounded
  std::uint64_t first_clock = 0;               // rates go by this and the job's own clock together
  copy_settings copies;
  landmarks* marks = nullptr;  // outlives the shard; null: nobody listens
};

// What a view says of a shard to one of its holders.
struct shard_place {
  std::uint64_t epoch = 0;
  bool primary = false;
  bool joins = false;                 // it is to be filled
  std::optional<std::uint32_t> next;  // the next holder
  bool next_joins = false;
  bool quiet = false;
  instant serves_from;  // an earlier primary's leases have run out then
};

class shard {
 public:
  // `present` is the view that stale askers are told; it outlives the shard.
  shard(shard_settings settings, std::uint32_t number, std::vector<closed_range> ranges,
        std::vector<std::shared_ptr<table>> tables, const view& present, meter& work_done);

  // ---- views
  void take_place(const shard_place& place, instant now, answers& out);
  // The ranges become a shard of their own, with the same numbers and the same place.
  std::unique_ptr<shard> split_off(std::uint32_t number, std::vector<closed_range> ranges,
                                   std::vector<std::shared_ptr<table>> tables, instant now,
                                   answers& out);
  // It is held no longer: everybody is sent to where the view says.
  void leave(answers& out);
  // The primary may answer until then.
  void lease(instant until, instant now, answers& out);

  // ---- clients
  void on_push(asker from, const pb::PushHeader& header, const blob& keys, const blob& values,
               instant now, answers& out);
  void on_pull(asker from, const pb::PullHeader& header, const blob& keys, instant now,
               answers& out);
  void on_adopt(asker from, const pb::AdoptSlot& request, instant now, answers& out);

  // ---- the chain
  void on_copy(asker from, const pb::CopyHeader& header, const blob& keys, const blob& rows,
               instant now, answers& out);
  void on_copied(std::uint64_t number, const pb::CopyReply& reply, instant now, answers& out);
  void on_copy_failure(std::uint64_t number, const std::string& why, instant now, answers& out);

  // Answers what has been held too long, and sends what has become due.
  void on_time(instant now, answers& out);
  std::optional<instant> next_wake(instant now) const;

  // ---- whole tables
  // While its rows are being replaced nothing is read from them or pushed to them.
  void begin_loading() { loading_ = true; }
  // The slots' numbers are as the rows' source says; without, they stay.
  void end_loading(const pb::LoadPart* with_slots, instant now, answers& out);
  bool loading() const { return loading_; }
  // Begins right after `version` clocks; none: at once. False: that is past.
  bool arm_snapshot(bool with_state, std::optional<std::uint64_t> version);
  bool snapshot_waits() const { return armed_.has_value(); }
  snapshot* begun_snapshot() { return snapshot_.get(); }
  void drop_snapshot();
  std::vector<pb::SlotRecord> snapshot_slots() const { return snapshot_slots_; }
  std::uint64_t snapshot_version() const { return snapshot_version_; }

  std::uint32_t number() const { return number_; }
  std::uint64_t epoch() const { return place_.epoch; }
  bool primary() const { return place_.primary; }
  instant serves_from() const { return place_.serves_from; }
  bool in_sync() const { return !place_.joins || complete_; }
  const std::vector<closed_range>& ranges() const { return ranges_; }
  const std::vector<std::shared_ptr<table>>& tables() const { return tables_; }
  const slot_ledger& ledger() const { return ledger_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t rejected(std::size_t table) const { return rejected_[table]; }
  std::size_t held_pulls() const { return held_.size(); }
  // How much waits here in all, for whatever: bounded by what its askers may have under way.
  std::size_t waiting() const;
  std::uint64_t keys_moved() const { return keys_moved_; }
  bool next_is_filled() const { return link_ && link_->joins() && link_->filled(); }
  bool still() const { return place_.quiet && committed() >= sequence_; }
  std::string trouble_behind(instant now, duration patience) const;
  std::string waiting_for(instant now) const;

 private:
  struct held_pull {
    asker from;
    pb::PullHeader header;
    blob keys;
    instant deadline;
  };
  struct parked {
    asker from;
    std::optional<pb::PushHeader> push;
    std::optional<pb::PullHeader> pull;
    std::optional<pb::AdoptSlot> adopt;
    blob keys, values;
    instant deadline;
  };
  struct unacknowledged {
    std::uint64_t sequence;
    instant deadline;
    std::optional<push_answer> push;
    std::optional<adopt_answer> adopt;
    std::optional<copy_answer> copy;
  };
  struct armed {
    bool with_state;
    std::optional<std::uint64_t> version;
  };

  void pass(const char* which) const {
    if (settings_.marks != nullptr) settings_.marks->passed(which);
  }
  bool bulk_synchronous() const { return settings_.staleness == std::uint64_t{0}; }
  bool serves(instant now) const;
  template <class Reply, class Header>
  std::optional<Reply> wrong_view(const Header& header) const;
  void park(parked p);
  void unpark(instant now, answers& out);
  void send_everybody_away(answers& out);
  template <class Reply>
  Reply stale() const;

  std::uint64_t needed_clock(std::uint64_t clock) const;
  bool owns_all(span<const position> ascending) const;
  std::optional<std::string> misfit(const pb::PushHeader& header, const blob& keys,
                                    const blob& values) const;
  std::optional<pb::PullReply> refusal(const pb::PullHeader& header, const blob& keys) const;
  bool raise_unknown(const pb::PullHeader& header);
  bool may_read(const pb::PullHeader& header) const;
  // The reply to a push, unless it is held (its asker is noted then).
  std::optional<pb::PushReply> take(asker from, const pb::PushHeader& header, const blob& keys,
                                    const blob& values, instant now);
  std::optional<pb::PushReply> take_next(asker from, const pb::PushHeader& header, const blob& keys,
                                         const blob& values, instant now);
  bool apply(std::size_t table, const blob& keys, const void* values, step_context step);
  void apply_open_clocks(instant now, answers& out);
  void apply_clock(std::uint64_t clock, open_clock& pushes, instant now, answers& out);
  bool apply_combined(std::size_t table, std::uint64_t clock,
                      const std::vector<const gathered_push*>& pushes, std::uint32_t slots);
  void release_pulls(answers& out);
  pull_answer read(asker from, const pb::PullHeader& header, const blob& keys);
  result<void> read_keys(const pb::PullHeader& header, const blob& keys, const overwritten* before,
                         pull_answer& out) const;
  result<void> read_range(const pb::PullHeader& header, const overwritten* before,
                          pull_answer& out) const;
  template <class Reply>
  void say_whom_for(Reply& reply, std::uint64_t clock) const;

  // ---- shard_copies.cpp
  void changed(instant now);
  std::uint64_t committed() const;
  void when_committed(unacknowledged u, answers& out);
  void release(instant now, answers& out);
  void send_changes(instant now, answers& out);
  copy_message message_of(const copy_link::cargo& cargo, bool complete) const;
  std::optional<std::string> put_copied(const pb::CopyHeader& header, const blob& keys,
                                        const blob& rows);
  void set_link(const shard_place& place, instant now);
  // Of what is taken only what is applied; the rest would be lost with this server.
  slot_record applied(std::uint32_t slot) const;
  void roll_back();
  pb::SlotRecord record_of(std::uint32_t slot) const;
  void set_record(const pb::SlotRecord& record);
  void begin_snapshot_if_due();
  std::string whom_copies_wait_for() const;
  void clear_tables();

  const shard_settings settings_;
  const std::uint32_t number_;
  std::vector<closed_range> ranges_;  // ascending
  std::vector<std::shared_ptr<table>> tables_;
  const view& present_;
  meter& meter_;
  bool gathers_ = false;  // tables step clock by clock
  shard_place place_;
  instant leased_until_;
  std::uint64_t barrier_ = 0;  // of the sequence: what a promoted copy must have at its own copies
  bool complete_ = true;       // of a copy that joins: it has everything
  bool begun_ = true;          // and something
  std::uint64_t last_message_ = 0;  // from the holder before, in this epoch

  slot_ledger ledger_;
  gathering gathering_;
  std::multimap<std::uint64_t, held_pull>
      held_;  // by the clock that every active slot must have reached
  std::deque<parked> parked_;
  std::deque<unacknowledged> unacknowledged_;
  std::uint64_t version_ = 0;  // where whole clocks are applied: how many
  std::uint64_t version_sequence_ = 0;
  std::vector<overwritten> before_;  // by table: what the last applied clock overwrote
  std::vector<std::uint64_t> rejected_;
  std::uint64_t keys_moved_ = 0;

  std::uint64_t sequence_ = 0;  // of changes
  std::optional<copy_link> link_;
  bool loading_ = false;

  std::optional<armed> armed_;
  std::unique_ptr<snapshot> snapshot_;
  std::vector<pb::SlotRecord> snapshot_slots_;
  std::uint64_t snapshot_version_ = 0;
};

template <class Reply>
Reply shard::stale() const {
  auto reply = with_outcome<Reply>(pb::STALE_VIEW);
  *reply.mutable_view() = present_.to_message();
  return reply;
}

// Who was cut for another place of the shard asks again: with our view, or when we have theirs.
template <class Reply, class Header>
std::optional<Reply> shard::wrong_view(const Header& header) const {
  if (header.shard_epoch() > place_.epoch)
    return with_outcome<Reply>(pb::LATER, "has an older view");
  if (header.shard_epoch() < place_.epoch || !place_.primary) return stale<Reply>();
  return std::nullopt;
}

template <class Reply>
void shard::say_whom_for(Reply& reply, std::uint64_t clock) const {
  constexpr std::size_t most_named = 16;
  for (const auto slot : ledger_.below(clock, most_named)) {
    auto* waiting = reply.add_waiting();
    waiting->set_slot(slot);
    waiting->set_clock(ledger_.clock(slot));
  }
}

}  // namespace troupe
