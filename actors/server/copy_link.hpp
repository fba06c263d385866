#pragma once
// What a holder of a shard still has to tell the next one in its chain. Not a log: the set of what
// has changed. When the way is free, one message takes the present rows of all of it, so pushes
// that came meanwhile share one message, and a row that changed often travels once. One message is
// under way at a time, until it is acknowledged; one that is lost is put back into the set.
//
// A copy that joins has everything to be told: the link walks over the rows, a chunk with every
// message, and keeps of the changes only those behind it. So an old row never overwrites a newer
// one, and handing a shard over is the same as replicating it. After van Renesse and Schneider,
// "Chain replication", OSDI 2004, and Li et al., OSDI 2014, section 4.2 (replication after
// aggregation).

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/blob.hpp"
#include "core/span.hpp"
#include "core/time.hpp"
#include "messages/keys.hpp"

namespace troupe {

struct copy_settings {
  std::uint64_t most_waiting = std::uint64_t{32} << 20;  // bytes; more, and pushes are put off
  std::uint64_t chunk = std::uint64_t{1} << 20;          // bytes of a hand-over's chunk
  std::uint64_t transfer_rate = std::uint64_t{256}
                                << 20;  // bytes a second of a hand-over; 0: no limit
  duration gather{};                    // changes wait so long for company
  duration answer_within = std::chrono::seconds(1);
  duration retry = std::chrono::milliseconds(10);
};

class copy_link {
 public:
  // `joins`: the copy is to be filled; else it has all but what is noted.
  copy_link(std::uint32_t to, bool joins, std::size_t tables, copy_settings settings);

  std::uint32_t to() const { return to_; }
  bool joins() const { return place_.has_value(); }
  // Whether acknowledgements wait for this copy.
  bool gates() const { return !place_ || completing_; }
  bool filled() const { return filled_; }
  // Of a copy that joins: all rows have been replaced, and it is filled from the beginning.
  void fill_again();
  bool begun() const { return !place_ || place_->begun; }
  // The copy has all changes up to here.
  void begin_equal(std::uint64_t sequence) { acknowledged_ = sequence; }
  void now_in_sync();
  std::uint64_t acknowledged() const { return acknowledged_; }

  // Changes.
  void note_rows(std::size_t table, const blob& ascending, std::size_t row_bytes);
  void note_slot(std::uint32_t slot) { slots_.insert(slot); }
  void note_change(instant now);
  std::uint64_t waiting_bytes() const { return bytes_ + flying_bytes_; }

  // Where a hand-over stands: rows of `table` from `from` on.
  struct walk {
    std::size_t table = 0;
    position from = 0;
    bool begun = false, over = false;
  };
  // What goes into one message.
  struct cargo {
    std::uint64_t number = 0, sequence = 0;
    bool begins = false, complete = false;
    std::vector<blob> rows;  // by table: positions, ascending
    std::set<std::uint32_t> slots;
  };
  // When there is something to send and the way is free; empty: nothing is due.
  std::optional<instant> due() const;
  // What is left to walk, before take(): where the chunk is read from, if one is due.
  std::optional<walk> chunk_due(instant now) const;
  // Takes everything noted; the chunk's rows (of the walk's table), and where the walk goes on.
  const cargo& take(std::uint64_t sequence, instant now, const std::vector<position>& chunk,
                    std::optional<walk> next, std::size_t row_bytes);

  // True if it was the message under way.
  bool on_acknowledged(std::uint64_t number, instant now);
  void on_failure(std::uint64_t number, std::string why, instant now);
  // The message under way, if any, is taken for lost.
  void take_back(instant now);
  void on_time(instant now);

  // What is noted of these ranges, moved to another link that tells of a shard split off this one.
  void give_away(const std::vector<closed_range>& ranges, copy_link& other);

  // Why the copy does not answer, and since when; empty: it does.
  std::optional<instant> unanswered_since() const { return since_; }
  const std::string& trouble() const { return trouble_; }

 private:
  std::uint32_t to_;
  copy_settings settings_;
  // Positions that ascend: the first `count` of a blob, which is shared with the push they came
  // with.
  struct run {
    blob keys;
    std::size_t count = 0;
  };
  static blob merged(std::vector<run> runs);
  static std::size_t size_of(const std::vector<run>& runs);
  std::vector<std::vector<run>> rows_;  // by table
  std::set<std::uint32_t> slots_;
  bool changed_ = false;
  instant changed_at_;
  std::uint64_t bytes_ = 0;

  std::optional<walk> place_;  // of a copy that joins; `from` is what has been acknowledged
  bool completing_ = false, filled_ = false;
  instant chunk_at_;  // the next may leave

  std::uint64_t number_ = 0;
  std::optional<cargo> flying_;
  std::optional<walk> flying_next_;
  std::uint64_t flying_bytes_ = 0;
  instant answer_by_;
  std::optional<instant> retry_at_;
  std::uint64_t acknowledged_ = 0;
  std::optional<instant> since_;
  std::string trouble_;
};

}  // namespace troupe
