#pragma once
// A message of the schema as the text of a file: all that is set in it.

#include <string>

#include "config/schema.hpp"

namespace troupe::config {

std::string written(const Message& message);

}  // namespace troupe::config
