#include "actors/scheduler/course.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe {
namespace {

constexpr double least_slack = 0.1, most_slack = 0.9;
constexpr std::uint32_t every_whole = 10;  // measurements

}  // namespace

course::course(course_settings settings) : settings_(std::move(settings)) {
  if (on()) add(0, false, 0);
}

void course::add(std::uint64_t first_clock, bool filters, double slack) {
  pb::Stage stage;
  stage.set_first_clock(first_clock);
  stage.set_penalty(settings_.penalties[state_.place()]);
  stage.set_filters(filters);
  stage.set_slack(slack);
  stages_.push_back(std::move(stage));
}

bool course::done(std::optional<double> objective, std::optional<double> violation) const {
  if (settings_.objective_tolerance <= 0 && settings_.violation_tolerance <= 0) return false;
  if (settings_.objective_tolerance > 0) {
    if (!objective || state_.measured() == 0) return false;
    const double change = std::fabs(*objective - state_.objective());
    if (!(change <= settings_.objective_tolerance * std::fabs(*objective))) return false;
  }
  if (settings_.violation_tolerance > 0) {
    const double most = settings_.violation_tolerance * state_.first_violation();
    if (!violation || !(*violation <= most)) return false;
  }
  return true;
}

course::verdict course::on_measured(std::uint64_t next, std::optional<double> objective,
                                    std::optional<double> violation) {
  if (!on()) return {};
  if (violation && state_.first_violation() == 0) state_.set_first_violation(*violation);
  const bool seems_done = done(objective, violation);
  const bool filtered = stages_.back().filters();
  state_.set_measured(state_.measured() + 1);
  if (objective) state_.set_objective(*objective);
  if (seems_done && !filtered) {
    if (state_.place() + 1 == settings_.penalties.size()) return {true, true};
    state_.set_place(state_.place() + 1);
    state_.set_measured(0);
    add(next, false, 0);
    return {true, false};
  }
  if (!settings_.filters) return {};
  // The share of the penalty that a gradient at rest stays away from it: much while the model still
  // moves, little in the end. Now and then everything is looked at.
  const bool whole = seems_done || state_.measured() % every_whole == 0;
  const double left = violation && state_.first_violation() > 0
                          ? std::sqrt(*violation / state_.first_violation())
                          : 1;
  // In tenths, so that not every measurement makes a stage.
  const double share = std::round(std::clamp(left, least_slack, most_slack) * 10) / 10;
  const double slack = settings_.l1 * penalty() * share;
  const auto& last = stages_.back();
  if (last.filters() != !whole || (!whole && last.slack() != slack))
    add(next, !whole, whole ? 0 : slack);
  return {};
}

void course::take_up(const pb::CourseState& state, std::vector<pb::Stage> stages) {
  if (!on() || stages.empty()) return;
  state_ = state;
  stages_ = std::move(stages);
}

}  // namespace troupe
