#pragma once
// Where the scores of an evaluation go, and what comes of them. A learning program implements it.

#include <string>
#include <vector>

#include "core/blob.hpp"
#include "messages/control.pb.h"

namespace troupe {

class evaluation {
 public:
  virtual ~evaluation() = default;
  // A part's scores; parts come in any order, each once. (score, label, weight), f64 each, to a
  // row, and, where the part says 4 columns, the bits of the row's group.
  virtual void add(const pb::EvaluatedPart& part, const blob& scores) = 0;
  // The figures of everything added, given the tables as they are. Parts count in their order, not
  // in that of arrival.
  virtual std::vector<pb::Metric> figures(const std::vector<pb::TableSummary>& tables) const = 0;
  // Forgets what was added: the next evaluation begins.
  virtual void clear() = 0;
};

}  // namespace troupe
