#pragma once
// A model as NumPy's .npz: a zip archive, not compressed, of arrays in .npy form (NumPy Enhancement
// Proposal 1, version 1.0).
//
//   manifest.npy        u1 (bytes of manifest.json)
//   TABLE.keys.npy      u8 [rows], ascending
//   TABLE.values.npy    f4 or f8 [rows, width]
//   TABLE.state.npy     the same [rows, numbers of state]; absent without state
//   names.npy           u1 (lines "key TAB name"); absent without a dictionary

#include <string>

#include "apps/model/model_folder.hpp"
#include "apps/model/model_import.hpp"

namespace troupe {

// `names`: the text of the dictionary, or empty. Replaces the file.
result<void> write_npz(const saved_model& model, const std::string& names, bool weights_only,
                       const std::string& path);
// Errors are errc::bad_data and name the file and the array.
result<imported_model> read_npz(const std::string& path);

}  // namespace troupe
