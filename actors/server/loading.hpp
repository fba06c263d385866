#pragma once
// Rows from the files of a saved model, or of a kept one, into a server's tables.

#include <memory>
#include <vector>

#include "actors/server/table/table.hpp"
#include "core/file.hpp"
#include "messages/control.pb.h"

namespace troupe {

// Puts those rows into the tables that lie in their segments; the others are other servers'. Files
// of tables of another type, width, or, with state, another updater's state, are errors that name
// both. A table's bounds may have changed: rows go by their keys.
pb::LoadedPart load_part(file_system& files, const std::vector<std::shared_ptr<table>>& tables,
                         const pb::LoadPart& request);

}  // namespace troupe
