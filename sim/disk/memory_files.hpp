#pragma once
// A file system that is nothing but memory: what a run in virtual time writes leaves no trace and
// depends on nothing outside. For one thread.

#include <memory>

#include "core/file.hpp"

namespace troupe::sim {

std::shared_ptr<file_system> memory_files();

}  // namespace troupe::sim
