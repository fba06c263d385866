#pragma once
// What a worker takes from the job's plan.

#include "actors/worker/slot_loop.hpp"
#include "messages/control.pb.h"

namespace troupe {

client_settings client_settings_of(const pb::JobPlan& plan);
// Clocks of a slot that may be unacknowledged: as configured, but enough for tables that step clock
// by clock to use their bound.
std::uint32_t window_of(const pb::JobPlan& plan);
std::vector<table_shape> table_shapes_of(const pb::JobPlan& plan);
// By table; empty if no table has any.
std::vector<value_chain> push_filters_of(const pb::JobPlan& plan);
// Whether any message of the job goes through a filter.
bool has_filters(const pb::JobPlan& plan);

}  // namespace troupe
