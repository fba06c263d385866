#include "apps/chaos/fault_kinds.hpp"

#include "actors/supervision/landmarks.hpp"
#include "apps/chaos/workload/table_filters.hpp"

namespace troupe::chaos {
namespace {

#define EVERYWHERE \
  { true, true, true }
#define VIRTUAL_ONLY \
  { true, false, false }
#define NOT_IN_ONE \
  { true, false, true }

constexpr const char* one_process = "nodes of one process share its processors, disk and network";
constexpr const char* by_plan =
    "one process is told beforehand what is to happen, and which checkpoint is the latest it does "
    "not know then";
constexpr const char* tcp_hides = "TCP hides it from everybody above";
constexpr const char* no_hand_on_messages =
    "links are encrypted: nobody picks messages out of them";

// In the order of fault_kind.
constexpr fault_kind_facts kinds[] = {
    {fault_kind::kill, "kill", "the node is gone at once; it starts again after `lasts`", "",
     EVERYWHERE, true, ""},
    {fault_kind::pause, "pause", "the node stands still", "", NOT_IN_ONE, true, one_process},
    {fault_kind::slow, "slow", "the node takes several times as long for everything", "factor",
     NOT_IN_ONE, true, one_process},
    {fault_kind::straggler, "straggler", "some of the node's clocks are slow, by chance",
     "factor, chance", VIRTUAL_ONLY, true, "it is a matter of the simulator's prices; use slow"},
    {fault_kind::partition, "partition", "nothing passes between parts of the cluster",
     "shape, peer", NOT_IN_ONE, true, one_process},
    {fault_kind::latency, "latency", "all that passes between node and peer takes longer",
     "peer, latency, jitter", NOT_IN_ONE, true, one_process},
    {fault_kind::bandwidth, "bandwidth",
     "what passes between node and peer goes through a thin pipe", "peer, bandwidth", NOT_IN_ONE,
     true, one_process},
    {fault_kind::loss, "loss", "transmissions between node and peer are lost, and sent again late",
     "peer, chance", NOT_IN_ONE, true, one_process},
    {fault_kind::duplicate, "duplicate",
     "messages between workers and servers arrive twice, some time apart", "peer, chance, latency",
     VIRTUAL_ONLY, true, tcp_hides},
    {fault_kind::reorder, "reorder", "messages between workers and servers overtake each other",
     "peer, latency", VIRTUAL_ONLY, true, tcp_hides},
    {fault_kind::drop, "drop", "one kind of message from node to peer is lost",
     "peer, message, chance", VIRTUAL_ONLY, true, no_hand_on_messages},
    {fault_kind::delay, "delay", "one kind of message from node to peer comes late",
     "peer, message, latency", VIRTUAL_ONLY, true, no_hand_on_messages},
    {fault_kind::reset, "reset", "the connections between node and peer break; both know it",
     "peer", VIRTUAL_ONLY, false, "the kernel ends no connection of another process"},
    {fault_kind::half_open, "half_open",
     "the peer has forgotten its connection to the node, which goes on sending into the void",
     "peer", VIRTUAL_ONLY, false,
     "the kernel forgets no connection of another process; use partition"},
    {fault_kind::skew, "skew", "the node's clock runs too fast or too slow", "factor", VIRTUAL_ONLY,
     true, "all processes of a machine read one clock"},
    {fault_kind::disk_full, "disk_full", "nothing more fits on the node's disk", "", NOT_IN_ONE,
     true, one_process},
    {fault_kind::disk_fails, "disk_fails", "every change on the node's disk fails", "",
     VIRTUAL_ONLY, true, "a kernel's disk does not fail on demand; use disk_full"},
    {fault_kind::short_write, "short_write", "half of what the node writes is written", "",
     VIRTUAL_ONLY, true, "a kernel's disk does not do it on demand; use disk_full"},
    {fault_kind::lost_sync, "lost_sync", "the node's disk says that it has synced, and has not", "",
     VIRTUAL_ONLY, true, "it shows only when the power fails"},
    {fault_kind::bit_flip, "bit_flip", "one bit of the latest checkpoint is turned over", "",
     NOT_IN_ONE, false, by_plan},
    {fault_kind::truncate, "truncate", "a file of the latest checkpoint loses its end", "",
     NOT_IN_ONE, false, by_plan},
    {fault_kind::descriptors, "descriptors", "the node can open no more files", "", NOT_IN_ONE,
     true, one_process},
    {fault_kind::not_a_number, "not_a_number", "a clock's push of a slot is not a number",
     "slot, clock", EVERYWHERE, false, ""},
    {fault_kind::throws, "throw", "a slot's program throws in a clock", "slot, clock", EVERYWHERE,
     false, ""},
    {fault_kind::wrong_version, "wrong_version",
     "somebody who speaks another version of the protocol wants to be the node", "", VIRTUAL_ONLY,
     false, "one program speaks one version"},
    {fault_kind::duplicate_name, "duplicate_name",
     "a second process begins as the node, while the first still lives", "", NOT_IN_ONE, false,
     "the names of one process are its own"},
    {fault_kind::join, "join", "a server or worker that was not there before joins", "", EVERYWHERE,
     false, ""},
    {fault_kind::drain, "drain", "what the server holds is taken from it", "", EVERYWHERE, false,
     ""},
    {fault_kind::rebalance, "rebalance", "the servers' load is evened out", "", EVERYWHERE, false,
     ""},
};
static_assert(sizeof kinds / sizeof kinds[0] == fault_kind_count);

}  // namespace

span<const fault_kind_facts> all_fault_kinds() {
  return {kinds, fault_kind_count};
}

const fault_kind_facts& facts_of(fault_kind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

const fault_kind_facts* find_fault_kind(const std::string& name) {
  for (const auto& k : kinds)
    if (name == k.name) return &k;
  return nullptr;
}

const char* to_string(target where) {
  switch (where) {
    case target::in_virtual_time:
      return "virtual";
    case target::in_one_process:
      return "local";
    default:
      return "processes";
  }
}

config::scenario_words all_words() {
  config::scenario_words words;
  for (const auto& k : kinds) words.kinds.emplace_back(k.name);
  for (const auto* state : landmark::all) words.states.emplace_back(state);
  words.misfit_of_filters = [](const config::Scenario& s, bool pulls) {
    return misfit_of_filters(s, pulls ? direction::pull : direction::push);
  };
  return words;
}

}  // namespace troupe::chaos
