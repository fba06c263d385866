#pragma once
// A file as a model's manifest records it.

#include <string>

#include "apps/model/model.pb.h"
#include "core/file_digest.hpp"

namespace troupe {

// Reads the whole file; `name` is what the record calls it.
result<pb::ModelFile> describe_file(file_system& files, const std::string& folder,
                                    const std::string& name);

}  // namespace troupe
