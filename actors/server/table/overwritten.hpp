#pragma once
// The values that one clock's pushes overwrote, so that the version before them stays readable.
//
// Each push leaves a run: its positions, ascending, and the values they had before it. A position
// in several runs had, before the clock, the value in the first of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

// Rows in ascending position.
struct table_rows {
  std::vector<position> positions;
  std::vector<std::byte> values;
  std::vector<std::byte> state;  // if asked for
  std::optional<position> next;  // there are more: read on from here
};

class overwritten {
 public:
  struct run {
    std::vector<position> positions;
    std::vector<std::byte> values;      // the initial ones where the row did not exist
    std::vector<std::byte> state;       // if it is kept
    std::vector<std::uint32_t> absent;  // indices of positions whose rows did not exist, ascending
  };

  // Whether runs keep the function's state too.
  void keep_state(bool yes) { keeps_state_ = yes; }
  bool keeps_state() const { return keeps_state_; }

  void clear() { runs_.clear(); }
  bool empty() const { return runs_.empty(); }
  const std::vector<run>& runs() const { return runs_; }
  void add(run r) { runs_.push_back(std::move(r)); }

  // Replaces, among the rows (positions ascending, row_bytes each) at `out`, those that the clock
  // overwrote.
  void restore(span<const position> positions, std::size_t row_bytes, std::byte* out) const;
  // The same for state, where it is kept.
  void restore_state(span<const position> positions, std::size_t state_bytes, std::byte* out) const;
  // Turns rows into what they were before: without those that were made since.
  void take_back(std::size_t value_bytes, std::size_t state_bytes, table_rows& rows) const;

 private:
  bool keeps_state_ = false;
  std::vector<run> runs_;
};

}  // namespace troupe
