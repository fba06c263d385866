#pragma once
// A server shard without its actor: tables, the slots' numbers and clocks, and the rules of
// consistency. Requests go in with an asker's number and the time; answers come out, for this asker
// or for others that were being held.
//
// Invariants
// - A push is taken only if it is its slot's next; a repeated one is acknowledged once applied, and
// never applied again.
// - Bulk-synchronous (staleness 0): nothing of clock c is applied before every active slot has sent
// all of it; then it is
//   applied in table, slot and index order. A pull at clock c reads exactly version c, which stays
//   readable until clock c + 1 is applied, because a slot taken over after a crash asks for it
//   again.
// - Bounded delay n: a pull at clock c waits until every active slot has completed clock c - n - 1.
// Tables that combine by
//   sum or mean still step clock by clock; `each` steps on arrival.
// - Nothing is held beyond the deadline its asker named; then the answer says whom it waits for.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/server/gathering.hpp"
#include "actors/server/slot_ledger.hpp"
#include "actors/server/table/table.hpp"
#include "core/blob.hpp"
#include "core/meter.hpp"
#include "core/time.hpp"
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
struct answers {
  std::vector<push_answer> pushes;
  std::vector<pull_answer> pulls;
};

struct shard_settings {
  std::uint32_t server = 0;
  std::uint32_t slots = 1;
  std::optional<std::uint64_t> staleness = 0;  // nullopt: unbounded
  std::uint64_t first_clock = 0;               // rates go by this and the job's own clock together
};

class shard {
 public:
  shard(shard_settings settings, std::vector<std::shared_ptr<table>> tables, meter& work_done);

  // Older and equal views change nothing. A view may add segments only before training starts,
  // until hand-over exists.
  result<void> install(view next);
  std::uint64_t view_number() const { return view_.number(); }

  answers on_push(asker from, const pb::PushHeader& header, const blob& keys, const blob& values,
                  instant now);
  answers on_pull(asker from, const pb::PullHeader& header, const blob& keys, instant now);
  pb::SlotNumbers on_adopt(const pb::AdoptSlot& request);

  // Answers what has been held too long; call it a few times within the shortest hold.
  answers on_time(instant now);

  // While frozen (its rows are being written elsewhere) pushes are put off.
  void freeze() { ++frozen_; }
  void thaw() { --frozen_; }
  // While its rows are being replaced nothing is read from them either.
  void begin_loading() {
    freeze();
    loading_ = true;
  }
  void end_loading() {
    thaw();
    loading_ = false;
  }
  bool loading() const { return loading_; }

  const std::vector<std::shared_ptr<table>>& tables() const { return tables_; }
  const slot_ledger& ledger() const { return ledger_; }
  std::uint64_t rejected(std::size_t table) const { return rejected_[table]; }
  std::size_t held_pulls() const { return held_.size(); }

 private:
  struct held_pull {
    asker from;
    pb::PullHeader header;
    blob keys;
    instant deadline;
  };

  bool bulk_synchronous() const { return settings_.staleness == std::uint64_t{0}; }
  bool gathers(std::size_t table) const;
  std::uint64_t needed_clock(std::uint64_t clock) const;
  bool owns_all(span<const position> ascending) const;
  std::optional<std::string> misfit(const pb::PushHeader& header, const blob& keys,
                                    const blob& values) const;
  std::optional<pb::PullReply> refusal(const pb::PullHeader& header, const blob& keys) const;
  // The reply to a push, unless it is held (its asker is noted then).
  std::optional<pb::PushReply> take(asker from, const pb::PushHeader& header, const blob& keys,
                                    const blob& values, instant now);
  std::optional<pb::PushReply> take_next(asker from, const pb::PushHeader& header, const blob& keys,
                                         const blob& values, instant now);
  bool apply(std::size_t table, span<const position> keys, const void* values, step_context step);
  void apply_open_clocks(answers& out);
  void apply_clock(std::uint64_t clock, open_clock& pushes, answers& out);
  bool apply_combined(std::size_t table, std::uint64_t clock,
                      const std::vector<const gathered_push*>& pushes, std::uint32_t slots);
  void release_pulls(answers& out);
  pull_answer read(asker from, const pb::PullHeader& header, const blob& keys) const;
  result<void> read_keys(const pb::PullHeader& header, const blob& keys, const overwritten* before,
                         pull_answer& out) const;
  result<void> read_range(const pb::PullHeader& header, const overwritten* before,
                          pull_answer& out) const;
  template <class Reply>
  void say_whom_for(Reply& reply, std::uint64_t clock) const;

  const shard_settings settings_;
  std::vector<std::shared_ptr<table>> tables_;
  meter& meter_;
  view view_;
  std::vector<closed_range> ranges_;  // ours, ascending
  slot_ledger ledger_;
  gathering gathering_;
  std::multimap<std::uint64_t, held_pull>
      held_;                         // by the clock that every active slot must have reached
  std::uint64_t version_ = 0;        // bulk-synchronous: number of clocks applied
  std::vector<overwritten> before_;  // by table: what the last applied clock overwrote
  std::vector<std::uint64_t> rejected_;
  int frozen_ = 0;  // writers under way
  bool loading_ = false;
};

}  // namespace troupe
