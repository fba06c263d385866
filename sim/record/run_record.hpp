#pragma once
// What a virtual run was seen to do: who computed, who waited, what travelled, what befell.
// Summary, JSON and page are made from it alone. Everything is a pure function of the job's files
// and its seed, so two records of one run are equal.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace troupe::sim {

// Every moment of a node belongs to exactly one of these.
struct activity_times {
  duration compute{};   // its processor works
  duration transfer{};  // else: something it sent, or that is addressed to it, is on the wire
  duration wait{};      // else: it waits for others, or has nothing to do

  duration total() const { return compute + transfer + wait; }
};

struct node_record {
  std::string name;  // "server 3"
  std::string zone;  // "rack-1"; empty where there are no zones
  activity_times times;
  std::uint64_t messages_sent = 0, bytes_sent = 0;
  std::uint64_t messages_received = 0, bytes_received = 0;
  std::uint64_t restarts = 0;
};

// The nodes' times in columns of equal width from the run's begin on; the last may be cut short.
struct timeline {
  duration column{};
  std::vector<std::vector<activity_times>> nodes;  // in the order of run_record::nodes
};

struct traffic {
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t lost = 0, duplicated = 0;  // messages, of those above

  traffic& operator+=(const traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    lost += other.lost;
    duplicated += other.duplicated;
    return *this;
  }
};

// The model as an observer saw it who costs nothing.
struct objective_point {
  duration at{};             // virtual time since the run began
  std::uint64_t clocks = 0;  // of all slots, done by then
  std::uint64_t examples = 0;
  double objective = 0;  // as in the summary, of all training rows
};

struct event {
  duration at{};
  std::string node;  // may be empty
  std::string text;  // "crashes", "the link to server 1 is cut"
};

struct run_record {
  duration virtual_time{};
  std::vector<node_record> nodes;  // the scheduler, the servers, the workers
  timeline bars;
  std::map<std::string, traffic> by_kind;                          // "push", "reply to push", ...
  std::map<std::pair<std::string, std::string>, traffic> by_link;  // (from, to): node names
  std::vector<objective_point> objective;
  std::vector<std::uint64_t> staleness;  // pulls answered with staleness 0, 1, ...; the last: more
  std::vector<event> events;
  std::uint64_t events_dropped = 0;  // beyond those kept
  std::uint64_t engine_events = 0;   // that the simulator took off its queue
  std::string trace_digest;          // over every departure, arrival and computation, in order

  traffic all() const {
    traffic sum;
    for (const auto& [kind, t] : by_kind) sum += t;
    return sum;
  }
};

}  // namespace troupe::sim
