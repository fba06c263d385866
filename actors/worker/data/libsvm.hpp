#pragma once
// LIBSVM text, also called svmlight: `label index:value index:value ... # comment`, one example a
// line.
//
// - Blanks are spaces and tabs. Blank lines and comments are passed over; a label alone is an
// example without features.
// - An index is any integer from the index base to 2^64-1, and its key is index - base. Order is
// free; an index that
//   comes twice in a line is a fault, since nobody can know which value is meant.
// - The label is an f64, and one that is an integer must fit exactly. Values are rounded to f32 and
// must be finite.
// - Tokens of the format's dialects (`qid:3`, field:index:value, several labels) are faults that
// say so.

#include <memory>

#include "actors/worker/data/row_reader.hpp"

namespace troupe {

// Fails for an index base other than 0 and 1.
result<std::unique_ptr<row_reader>> make_libsvm_reader(const format_options& options);

}  // namespace troupe
