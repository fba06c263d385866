#pragma once
// The filters of a job's tables, as one end of a connection has them.
//
// The plan names, for each table and direction, filters in their order: lossy ones first. A push
// goes through the lossy side of its chain once (value_chain), and each message that it is cut into
// through the lossless side (transmission_chain), whose steps the message's header names. A pull's
// request goes through the lossless side of the table's chain for pulls; its reply through both, at
// the server.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "messages/control.pb.h"
#include "messages/data.pb.h"
#include "messages/filters/content_memory.hpp"
#include "messages/filters/filter.hpp"

namespace troupe {

enum class direction { push, pull };

// Errors name the table, the filter and what is wrong: a name, a number, a lossy filter behind a
// lossless one, two that send numbers in fewer bits, or one filter twice. A plan whose chains are
// fine makes chains without errors.
result<void> check_filters(const pb::TableSpec& table);
// Whether any filter of the plan keeps a residue at workers.
bool keeps_residues(const pb::JobPlan& plan);

// The lossy side for one table and direction.
class value_chain {
 public:
  value_chain() = default;
  value_chain(const pb::TableSpec& table, direction way);
  bool empty() const { return filters_.empty(); }
  // Values that are not all finite (a model that has diverged) stay as they are.
  void apply(payload& rows, const filter_moment& when);

 private:
  bool doubles_ = false;
  std::vector<std::unique_ptr<value_filter>> filters_;
};

// Bytes of keys, values and notes before the first filter, and after each.
using byte_counts = std::vector<std::uint64_t>;

// The lossless side for one table, direction and peer.
class transmission_chain {
 public:
  transmission_chain() = default;
  transmission_chain(const pb::TableSpec& table, direction way, content_memories* memories);

  bool empty() const { return filters_.empty(); }
  // Adds to `counts` (made as long as it must be) what each step left.
  // `only_counts`: no step is taken.
  void encode(payload& message, pb::Encoding& encoding, byte_counts& counts,
              bool only_counts = false);
  // Undoes the steps. On anything but `done` the message is of no use.
  undone decode(payload& message, const pb::Encoding& encoding, byte_counts& counts);
  // Names of the steps of `counts`, "raw" first.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct link {
    std::uint32_t number;  // in the chain of the plan
    std::unique_ptr<transmission_filter> filter;
  };
  std::vector<link> filters_;
  std::vector<std::string> names_;
};

// "raw", and the names of a chain's lossless sides: what counts of bytes are of.
std::vector<std::string> count_names(const pb::TableSpec& table, direction way);

}  // namespace troupe
