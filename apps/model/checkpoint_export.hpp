#pragma once
// A model of a checkpoint: what would have been saved, had the job ended there.

#include <string>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// Holds the whole checkpoint against its checksums, and writes the model into the folder `model`.
// errc::damaged: the checkpoint is not whole; errc::bad_usage: the folder cannot be replaced.
result<void> export_checkpoint(file_system& files, const std::string& checkpoint,
                               const std::string& model);

}  // namespace troupe
