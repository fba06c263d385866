#pragma once
// What a server takes from the job's plan, and what it says of its tables.

#include <memory>
#include <vector>

#include "actors/server/shard_host.hpp"
#include "core/file.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

// Errors name the table and the word or number that does not fit.
result<table_spec> table_spec_of(const pb::TableSpec& message);
result<std::vector<std::shared_ptr<table>>> make_tables(const pb::JobPlan& plan);
shard_settings shard_settings_of(const pb::JobPlan& plan, std::uint32_t server);
host_settings host_settings_of(const pb::JobPlan& plan, std::uint32_t server,
                               std::uint64_t incarnation);

// What a table is, by number; how many updates it refused is the shard's to say.
pb::TableSummary summary_of(const table& t, std::uint32_t number);
pb::TableSummary summary_of(const shard& s, std::uint32_t table);

}  // namespace troupe
