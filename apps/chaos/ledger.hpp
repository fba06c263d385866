#pragma once
// What the clients of a workload saw, in the order in which they saw it. Written by the programs of
// the slots themselves, from what they asked and what they were answered: the implementation's own
// counters are not asked.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace troupe::chaos {

struct ledger_entry {
  enum class kind : std::uint8_t {
    pull_begins,
    pull_ends,    // values: one to each key of the clock
    push_begins,  // values: what is pushed
    push_ends,    // acknowledged, or refused
    final_values  // values: one to each key there is, when all slots had finished
  };
  kind what = kind::pull_begins;
  instant at;
  std::uint32_t slot = 0;
  std::uint64_t life = 0;  // of the slot's program, unique in the run
  std::uint64_t clock = 0;
  bool refused = false;
  std::vector<double> values;
};

class ledger {
 public:
  virtual ~ledger() = default;
  // From any thread. The entry's time is set here.
  virtual void add(ledger_entry entry) = 0;
};

// What one life of a slot writes into a ledger.
class slot_notes {
 public:
  slot_notes(std::shared_ptr<ledger> to, std::uint32_t slot, std::uint64_t life)
      : to_(std::move(to)), slot_(slot), life_(life) {}
  void note(ledger_entry::kind what, std::uint64_t clock, std::vector<double> values = {},
            bool refused = false) const {
    ledger_entry e;
    e.what = what;
    e.slot = slot_;
    e.life = life_;
    e.clock = clock;
    e.refused = refused;
    e.values = std::move(values);
    to_->add(std::move(e));
  }

 private:
  const std::shared_ptr<ledger> to_;
  const std::uint32_t slot_;
  const std::uint64_t life_;
};

// Hands every entry on at once, one at a time.
std::shared_ptr<ledger> live_ledger(std::function<instant()> now,
                                    std::function<void(const ledger_entry&)> to);

// One file of a process, for processes of one machine: their clocks are one.
result<std::shared_ptr<ledger>> file_ledger(file_system& files, const std::string& path);
// The entries of several, in the order of their times. A line that was not written to its end, as
// its process was killed, is left out.
result<std::vector<ledger_entry>> read_ledgers(file_system& files,
                                               const std::vector<std::string>& paths);

}  // namespace troupe::chaos
