#pragma once
// What `troupe export`, `import` and `inspect` do, apart from their command lines.

#include <cstddef>
#include <iosfwd>
#include <string>

#include "apps/model/text_export.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct export_options {
  std::string model;            // the folder
  std::string format = "text";  // or npz, liblinear
  std::string output;           // a file; empty: standard output, which npz cannot go to
  std::string dictionary;       // names; empty: those saved with the model, if any
  text_export_options text;
};

// Errors are those of the command: what cannot be read is bad input, what cannot be written is not.
result<void> export_model(file_system& files, const export_options& options, std::ostream& out);

struct import_options {
  std::string input;   // the file
  std::string format;  // empty: what the file's content says
  std::string model;   // the folder
};

// Makes a model's folder; prints what came of it.
result<void> import_model(file_system& files, const import_options& options, std::ostream& out);

result<void> inspect_model(file_system& files, const std::string& model,
                           const std::string& dictionary_path, std::size_t largest,
                           std::ostream& out);

// Prints the `count` features that speak most for, and most against, the positive class.
result<void> print_telling_features(file_system& files, const std::string& model,
                                    const std::string& dictionary_path, std::size_t count,
                                    std::ostream& out);

}  // namespace troupe
