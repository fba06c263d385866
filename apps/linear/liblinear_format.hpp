#pragma once
// Linear models in the text that liblinear's train writes and its predict reads (its README,
// "train" and `save_model`): every weight from feature 1 to the largest, then that of the bias
// feature.

#include <iosfwd>
#include <string>

#include "apps/model/model_folder.hpp"
#include "apps/model/model_import.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// Feature i of liblinear is key i - 1. The correction for dropped negative rows becomes part of the
// bias. An error where liblinear has no such model: keys beyond 2^31 - 2 (hashed names), or labels
// that are no whole numbers.
result<void> write_liblinear(const saved_model& model, std::ostream& out);

// Two classes or a regression, with the losses that there are here. Values are kept in f64.
result<imported_model> read_liblinear(file_system& files, const std::string& path);

}  // namespace troupe
