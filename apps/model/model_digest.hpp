#pragma once
// One number for a whole model: equal exactly when all values of all tables are, bit by bit,
// however they were sharded and in whatever order they came about.

#include <string>
#include <vector>

#include "core/hash.hpp"
#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

// XXH3-128 of the tables' digests (low word first), in the order of the tables.
hash128 model_digest(const std::vector<hash128>& tables);
// The same as 32 hexadecimal digits.
std::string model_digest(const std::vector<pb::TableSummary>& tables);

// The inverse of to_hex().
result<hash128> hash_from_hex(const std::string& text);

}  // namespace troupe
