#pragma once
// What `troupe evaluate` does, apart from its command line.

#include <iosfwd>
#include <memory>

#include "apps/linear/saved_linear.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// Measures a saved model and prints a line for each figure: its name and the shortest digits that
// read back as the same number, or "-" where it is not defined.
result<void> evaluate_model(std::shared_ptr<file_system> files, const evaluate_options& options,
                            std::ostream& out);

}  // namespace troupe
