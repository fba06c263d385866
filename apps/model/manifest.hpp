#pragma once
// manifest.json: written with its checksum, and read with distrust.

#include <string>

#include "apps/model/model.pb.h"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

constexpr const char* manifest_name = "manifest.json";
constexpr const char* manifest_checksum_name = "manifest.xxh3";
constexpr const char* history_name = "history.jsonl";

result<void> write_manifest(file_system& files, const std::string& folder,
                            const pb::ModelManifest& manifest);
// The same on one line and without the folder's files, for files that carry a model with them; and
// back.
result<std::string> manifest_line(const pb::ModelManifest& manifest);
result<pb::ModelManifest> parse_manifest_line(const std::string& text);

// errc::damaged: not a manifest, of a newer format, or not as it was written.
result<pb::ModelManifest> read_manifest(file_system& files, const std::string& folder);

}  // namespace troupe
