#pragma once
// What a person wants to know of a saved model: what it is, how it reads its data, how large its
// weights are and which are the largest.

#include <cstddef>
#include <iosfwd>
#include <string>

#include "apps/model/dictionary.hpp"
#include "apps/model/model_folder.hpp"

namespace troupe {

// `largest` weights of each sign are named, of tables with one value to a key.
void print_inspection(const saved_model& model, const dictionary& names, std::size_t largest,
                      std::ostream& out);

}  // namespace troupe
