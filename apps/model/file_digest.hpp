#pragma once
// A file's size and checksum, as manifests record them.

#include <string>

#include "apps/model/model.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// 16 hexadecimal digits of XXH3.
std::string checksum_of(std::string_view text);
// Reads the whole file; `name` is what the record calls it.
result<pb::ModelFile> describe_file(file_system& files, const std::string& folder,
                                    const std::string& name);

}  // namespace troupe
