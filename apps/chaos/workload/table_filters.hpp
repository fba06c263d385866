#pragma once
// The filters of a scenario's table, and what they leave of what its workload's check may demand.

#include <optional>
#include <set>
#include <string>

#include "apps/chaos/workload/workload.hpp"
#include "messages/filters/chain.hpp"
#include "messages/filters/filter_text.hpp"

namespace troupe::chaos {

using filter_names = std::set<std::string>;

// Why the scenario's chain cannot be, or would change what the workload's check counts on; empty:
// it can.
std::string misfit_of_filters(const config::Scenario& scenario, direction way);
// The workload's table with its filters. Of a scenario that has no misfits.
pb::TableSpec table_of(const config::Scenario& scenario, const table_workload& what);

// Whether any of a chain loses something.
bool loses_any(const filter_texts& chain);
// Up to which whole number a filter leaves every single one as it is: without bound, if it loses
// nothing; nothing, if it may change or drop any.
std::optional<double> exact_up_to(const pb::FilterSpec& filter);
// Whether a bulk-synchronous job must read the very bits that it reads without faults. The second:
// of these chains of filters, in place of the scenario's.
bool same_bits_under_faults(const config::Scenario& scenario);
bool same_bits_under_faults(const config::Scenario& scenario, const filter_names& push,
                            const filter_names& pull);
// Without filters that lose nothing, which must change nothing.
config::Scenario with_lossy_filters_alone(const config::Scenario& scenario);

// Names of the filters of either way.
filter_names filters_in(const config::Scenario& scenario);
// "pushes through fixed8, zstd level=3; pulls through lz4"; empty: there are none.
std::string describe_filters(const config::Scenario& scenario);

}  // namespace troupe::chaos
