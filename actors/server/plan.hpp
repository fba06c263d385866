#pragma once
// What a server takes from the job's plan, and what it says of its tables.

#include <memory>
#include <vector>

#include "actors/server/shard.hpp"
#include "core/file.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

// Errors name the table and the word or number that does not fit.
result<table_spec> table_spec_of(const pb::TableSpec& message);
result<std::vector<std::shared_ptr<table>>> make_tables(const pb::JobPlan& plan);
shard_settings shard_settings_of(const pb::JobPlan& plan, std::uint32_t server);

// What a table is, by number; how many updates it refused is the shard's to say.
pb::TableSummary summary_of(const table& t, std::uint32_t number);
pb::TableSummary summary_of(const shard& s, std::uint32_t table);

// Writes every table's rows of this server into the folder: "TABLE.part-SERVER.rows".
pb::SavedPart write_part(file_system& files, const std::vector<std::shared_ptr<table>>& tables,
                         const pb::SavePart& request, std::uint32_t server);

}  // namespace troupe
