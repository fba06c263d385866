#pragma once
// Damage to a checkpoint, as disks do it.

#include <string>

#include "core/file.hpp"
#include "core/random.hpp"

namespace troupe::chaos {

// One bit of a file of the latest checkpoint, or its end. Nothing, where there is none.
void spoil_latest_checkpoint(file_system& files, const std::string& folder, bool truncate,
                             random_source& random);

}  // namespace troupe::chaos
