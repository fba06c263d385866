#pragma once
// What `troupe export` does, apart from its command line.

#include <cstddef>
#include <iosfwd>
#include <string>

#include "apps/model/text_export.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct export_options {
  std::string model;            // the folder
  std::string format = "text";  // the only one
  std::string dictionary;       // names; empty: those saved with the model, if any
  text_export_options text;
};

// Writes the model to `out`.
result<void> export_model(file_system& files, const export_options& options, std::ostream& out);

// Prints the `count` features that speak most for, and most against, the positive class.
result<void> print_telling_features(file_system& files, const std::string& model,
                                    const std::string& dictionary_path, std::size_t count,
                                    std::ostream& out);

}  // namespace troupe
