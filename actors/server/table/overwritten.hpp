#pragma once
// The values that one clock's pushes overwrote, so that the version before them stays readable.
//
// Each push leaves a run: its positions, ascending, and the values they had before it. A position
// in several runs had, before the clock, the value in the first of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.hpp"
#include "messages/keys.hpp"

namespace troupe {

class overwritten {
 public:
  struct run {
    std::vector<position> positions;
    std::vector<std::byte> values;      // the initial ones where the row did not exist
    std::vector<std::uint32_t> absent;  // indices of positions whose rows did not exist, ascending
  };

  void clear() { runs_.clear(); }
  bool empty() const { return runs_.empty(); }
  const std::vector<run>& runs() const { return runs_; }
  void add(run r) { runs_.push_back(std::move(r)); }

  // Replaces, among the rows (positions ascending, row_bytes each) at `out`, those that the clock
  // overwrote.
  void restore(span<const position> positions, std::size_t row_bytes, std::byte* out) const;

 private:
  std::vector<run> runs_;
};

}  // namespace troupe
