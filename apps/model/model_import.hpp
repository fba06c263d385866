#pragma once
// Models from files of other kinds, and back into a folder (model_folder.hpp).

#include <string>
#include <string_view>
#include <vector>

#include "apps/model/model.pb.h"
#include "apps/model/sorted_rows.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct imported_model {
  pb::ModelManifest manifest;  // its parts, figures and digests are those of the exported model
  std::vector<sorted_rows> tables;  // by the manifest's tables
  std::string names;                // lines "key TAB name", or empty
};

// What export_text() wrote. Errors are errc::bad_data and begin with "file:line: ".
result<imported_model> read_text_model(file_system& files, const std::string& path);

// Saves it as a folder: one part to a table. Values and state are bit by bit those read, so the
// digest is the exported model's, unless rows of zeros were left out or somebody changed a number.
result<pb::ModelManifest> save_imported(file_system& files, imported_model model,
                                        const std::string& folder);

}  // namespace troupe
