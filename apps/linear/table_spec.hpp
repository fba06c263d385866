#pragma once
// A table as servers build it, from what a job's file says of it.

#include <string>

#include "config/job.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"
#include "messages/keys.hpp"

namespace troupe {

// `used` are the keys that the table will be asked for, where they are known: a range without
// bounds of its own is theirs. Errors name the key of the configuration.
result<pb::TableSpec> spec_of_table(const config::Job& job, const std::string& name,
                                    closed_range used);

// The tables of an external program: all that the file names, in the order of their names.
result<std::vector<pb::TableSpec>> external_tables(const config::Job& job);

}  // namespace troupe
