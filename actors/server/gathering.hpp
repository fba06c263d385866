#pragma once
// Pushes that wait for the rest of their clock. A gathering is not state: what it holds is
// unacknowledged, the clients keep it, and after a failure they send it again.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "actors/server/slot_ledger.hpp"
#include "core/blob.hpp"
#include "core/time.hpp"

namespace troupe {

struct gathered_push {
  std::uint32_t table = 0;
  double share = 0;
  std::vector<double> told;
  blob keys, values;
  std::vector<std::pair<std::uint64_t, instant>> askers;  // who awaits the reply, and until when
};

// The pushes of one clock, in slot order, then in index order: the order in which they are added up
// or applied.
using open_clock = std::map<std::pair<std::uint32_t, std::uint32_t>, gathered_push>;

class gathering {
 public:
  void add(std::uint32_t slot, push_number number, gathered_push push);
  // The push of this number, if it is here: it was taken and is not applied yet.
  gathered_push* find(std::uint32_t slot, push_number number);

  // The slot's oldest push here, if there is one.
  std::optional<push_number> oldest_of(std::uint32_t slot) const;

  bool empty() const { return clocks_.empty(); }
  std::uint64_t first_clock() const { return clocks_.begin()->first; }
  open_clock take_first();
  // Forgets all of them; whoever awaits them is returned.
  std::vector<std::uint64_t> drop_all();

  // Removes and returns the askers whose time is up.
  std::vector<std::uint64_t> expired(instant now);

 private:
  std::map<std::uint64_t, open_clock> clocks_;
};

}  // namespace troupe
