#pragma once
// CSV text (RFC 4180, on one line a row): columns have roles by their names, which the header says,
// or which are 1, 2, 3, ... without one.
//
//   label     a number, or a word that csv_layout::label_words knows
//   weight    the row's, at least 0
//   id        kept with the row, and echoed by predictions
//   group     rows of one query or user: a number of 64 bits, or a name
//   number    becomes what `numbers` says. A column called by a whole number gives features of
//             that index, as in LIBSVM text; any other's key is the hash of its name
//   category  a feature of value 1; its key is the hash of the text in the column's namespace
//   ignore    nothing
//
// A field that is empty, or one of the missing words, is missing, and no feature. Blanks around
// fields that are not quoted are no part of them. A quoted field ends on its own line.

#include <memory>

#include "actors/worker/data/row_reader.hpp"

namespace troupe {

// Fails for roles and separators that are none.
result<std::unique_ptr<row_reader>> make_csv_reader(const format_options& options);

}  // namespace troupe
