#pragma once
// manifest.json: written with its checksum, and read with distrust.

#include <string>

#include "apps/model/model.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

constexpr const char* manifest_name = "manifest.json";
constexpr const char* manifest_checksum_name = "manifest.xxh3";

result<void> write_manifest(file_system& files, const std::string& folder,
                            const pb::ModelManifest& manifest);
// errc::damaged: not a manifest, of a newer format, or not as it was written.
result<pb::ModelManifest> read_manifest(file_system& files, const std::string& folder);

}  // namespace troupe
