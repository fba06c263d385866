#pragma once
// Watches a run as the engine goes through it, and makes its record: every moment of every node
// accounted for, the traffic by kind, the events, and a digest of all that happened, in order. Two
// runs with the same digest did the same things at the same times.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/hash.hpp"
#include "core/time.hpp"
#include "sim/network/nodes.hpp"
#include "sim/record/columns.hpp"
#include "sim/record/run_record.hpp"

namespace troupe::sim {

// A kind of message: the atom it begins with, or the type of a reply.
using message_kind = std::uint32_t;

// Gets what is drawn on a timeline; see sim/report/chrome_trace.hpp.
class trace_sink {
 public:
  virtual ~trace_sink() = default;
  virtual void did(node_number node, activity what, std::string_view name, instant from,
                   instant to) = 0;
  virtual void befell(node_number node, std::string_view text, instant at) = 0;
  virtual void objective(double value, instant at) = 0;
};

class recorder {
 public:
  static constexpr std::size_t most_events = 10'000;  // kept; the rest are counted

  // `trace` may be null, else it outlives the recorder.
  recorder(const cast_of_nodes& cast, std::vector<std::string> zones, trace_sink* trace);

  message_kind kind(std::string_view name);  // the same number for the same name
  const std::string& name_of(message_kind k) const { return kind_names_[k]; }

  // A node's processor works, from a message of a kind on; it has done its turn.
  void turn_begins(node_number n, message_kind by, instant now);
  void turn_ends(node_number n, instant now);
  // A message is on the wire; it is there.
  void departs(node_number from, node_number to, message_kind k, std::uint64_t bytes, instant now);
  void arrives(node_number from, node_number to, message_kind k, std::uint64_t bytes, instant now);
  // It is lost when it departs, or on its way.
  void lost_at_departure(node_number from, node_number to, message_kind k, std::uint64_t bytes,
                         instant now);
  void lost_on_the_way(node_number from, node_number to, message_kind k, instant now);
  void doubled(node_number to, message_kind k, instant now);
  void befalls(node_number n, std::string text, instant now);
  void restarts(node_number n) { ++nodes_[n].restarts; }
  void looks(objective_point point);

  run_record result(instant now);

 private:
  struct state {
    bool busy = false;
    std::uint32_t on_the_wire = 0;  // sent by it or addressed to it
    message_kind works_on = 0;
    instant since;
  };
  void account(node_number n, instant now);
  void wire(node_number n, int change, instant now);
  void digest(std::uint32_t what, node_number a, node_number b, message_kind k, std::uint64_t bytes,
              instant now);
  void flush_digest();

  trace_sink* const trace_;
  std::vector<state> states_;
  std::vector<node_record> nodes_;
  columns columns_;
  std::unordered_map<std::string, message_kind> kind_numbers_;  // looked up, never walked
  std::vector<std::string> kind_names_;
  std::vector<traffic> kinds_;
  std::vector<objective_point> objective_;
  std::vector<event> events_;
  std::uint64_t events_dropped_ = 0;

  struct digested {
    std::int64_t at;
    std::uint32_t what, a, b, kind;
    std::uint64_t bytes;
  };
  std::array<digested, 128> pending_;
  std::size_t pending_count_ = 0;
  running_hash hash_;
};

}  // namespace troupe::sim
