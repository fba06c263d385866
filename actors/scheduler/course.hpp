#pragma once
// The course of a solver: a list of penalties, from the strongest to the one that is wanted, each
// begun from where the one before ended (a regularisation path), and what the slots go by on the
// way. It moves when the model has been measured, all slots standing still, so that a stage begins
// at one clock for everybody, and a scheduler that starts again finds it in its state.
//
// A penalty is done when the objective has changed by less than its tolerance since the measurement
// before, and the largest violation of the optimality conditions is below its own, relative to the
// first that was seen. Where values at rest are passed over (the KKT filter of Li et al., OSDI
// 2014, section 5.1), the slack that tells them follows the
// violation, every tenth stretch passes over nothing, and what is done with the
// filter must be seen to be done once more without it.

#include <cstdint>
#include <optional>
#include <vector>

#include "messages/durable.pb.h"

namespace troupe {

struct course_settings {
  std::vector<double> penalties;   // factors of l1 and l2; empty: there is no course
  double objective_tolerance = 0;  // 0: it is not asked for
  double violation_tolerance = 0;  // 0: it is not asked for
  bool filters = false;            // values at rest are passed over
  double l1 = 0;                   // that the factors are of: slacks are no larger
};

class course {
 public:
  explicit course(course_settings settings);

  bool on() const { return !settings_.penalties.empty(); }
  const std::vector<pb::Stage>& stages() const { return stages_; }
  // Factor of the penalties now.
  double penalty() const { return stages_.empty() ? 1 : stages_.back().penalty(); }

  struct verdict {
    bool arrived = false;  // at the end of this penalty
    bool ends = false;     // and there is no further one
  };
  // Measured before clock `next`. What is not known is no reason to arrive.
  verdict on_measured(std::uint64_t next, std::optional<double> objective,
                      std::optional<double> violation);

  pb::CourseState state() const { return state_; }
  void take_up(const pb::CourseState& state, std::vector<pb::Stage> stages);

 private:
  bool done(std::optional<double> objective, std::optional<double> violation) const;
  void add(std::uint64_t first_clock, bool filters, double slack);

  const course_settings settings_;
  pb::CourseState state_;
  std::vector<pb::Stage> stages_;
};

}  // namespace troupe
