#pragma once
// The kinds of faults there are: what each does, what it takes from a scenario, and in which target
// it is possible. A kind that a target cannot do is an error there, never a fault that silently
// does nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "config/scenario.hpp"
#include "core/span.hpp"

namespace troupe::chaos {

enum class fault_kind : std::uint8_t {
  kill,
  pause,
  slow,
  straggler,
  partition,
  latency,
  bandwidth,
  loss,
  duplicate,
  reorder,
  drop,
  delay,
  reset,
  half_open,
  skew,
  disk_full,
  disk_fails,
  short_write,
  lost_sync,
  bit_flip,
  truncate,
  descriptors,
  not_a_number,
  throws,
  wrong_version,
  duplicate_name,
  join,
  drain,
  rebalance
};
constexpr std::size_t fault_kind_count = 29;

enum class target : std::uint8_t { in_virtual_time, in_one_process, on_processes };

struct fault_kind_facts {
  fault_kind kind;
  const char* name;
  const char* does;
  const char* takes;           // keys of a scenario's fault, beside node, at and lasts
  bool possible[3];            // by target
  bool lasts;                  // it holds for a while; else it is over at once
  const char* impossible_why;  // where it is not
};

span<const fault_kind_facts> all_fault_kinds();
const fault_kind_facts& facts_of(fault_kind kind);
const fault_kind_facts* find_fault_kind(const std::string& name);  // null: there is none

const char* to_string(target where);
// The words that a scenario may use: kinds of faults and states of the protocol.
config::scenario_words all_words();

}  // namespace troupe::chaos
