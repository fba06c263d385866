#pragma once
// An earlier linear model that a job starts from.

#include <memory>
#include <string>
#include <vector>

#include "apps/linear/label_map.hpp"
#include "apps/linear/linear_job.hpp"
#include "apps/model/model.pb.h"
#include "config/job.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct initial_model {
  std::string folder;
  pb::ModelManifest manifest;
  label_map labels;
  std::vector<std::string> files;  // its rows
};

// Reads what the model says of itself.
result<initial_model> read_initial_model(file_system& files, const std::string& folder);

// Whether the job can go on from it. What makes a key or a value mean something else is an error
// that names both settings: reader, index base, hashing, shaping, loss, labels, bias, value types,
// and, where the optimiser's state is taken up, the updater and its parameters.
result<void> check_initial_model(const initial_model& earlier, const config::Job& job,
                                 const linear_job& made);

}  // namespace troupe
