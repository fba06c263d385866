#pragma once
// What came of a scenario: everything that reports, sweeps and shrinking need to know of a run.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/chaos/fault_kinds.hpp"
#include "apps/chaos/workload/workload.hpp"

namespace troupe::chaos {

// A fault as it was carried out, or why it was not.
struct struck {
  std::string text;  // "kill: server 1"
  fault_kind kind = fault_kind::kill;
  std::vector<std::string> nodes;  // "server 1"
  duration from{}, to{};  // from the begin; to: when it was over, at the latest the run's end
  std::string withheld;   // why it did not strike; empty: it did
};

// What is drawn over a node's lane beside faults, and said in the text.
struct happening {
  duration at{};
  std::string node;
  std::string text;
};

// How often a node passed a state of the protocol while a fault of a kind was in force, or struck.
using coverage = std::map<std::pair<fault_kind, std::string>, std::uint64_t>;

struct run_outcome {
  bool finished = false;
  std::string text;                   // why the job failed
  std::vector<violation> violations;  // the first is the one that was seen first
  std::vector<struck> faults;
  std::vector<happening> happenings;
  std::vector<std::string> nodes;
  coverage covered;
  std::map<std::string, std::uint64_t> states;  // how often each was passed
  duration took{};                              // of the cluster's time
  std::vector<duration> recoveries;  // by fault that struck: until every slot had gone on
  std::string digest;                // of all that happened, in virtual time
  std::map<std::string, double> metrics;

  bool ok() const { return violations.empty(); }
  std::size_t faults_struck() const;
};

}  // namespace troupe::chaos
