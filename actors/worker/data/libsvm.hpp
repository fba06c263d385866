#pragma once
// LIBSVM text, also called svmlight: `label index:value index:value ... # comment`, one example a
// line; and that of libffm, `label field:index:value ...`.
//
// - Blanks are spaces and tabs. Blank lines and comments are passed over; a label alone is an
//   example without features.
// - An index is any integer from the index base to 2^64-1, and its key is index - base. With
//   `names_are_keys` any other text is a name, hashed in the namespace of its field ("" without
//   fields). Order is free; an index that comes twice in a line (in one field) is a fault, since
//   nobody can know which value is meant.
// - A field is an integer below 2^32.
// - The label is an f64, and one that is an integer must fit exactly. Values are rounded to f32 and
//   must be finite.
// - Of the format's dialects, `qid:3` is the example's group and `cost:0.5` its weight; with
//   `label_weights` so is the second number of `label:weight`. What else there is (`sid:`, several
//   labels) is a fault that says so, and never a feature.

#include <memory>

#include "actors/worker/data/row_reader.hpp"

namespace troupe {

// Fail for an index base other than 0 and 1.
result<std::unique_ptr<row_reader>> make_libsvm_reader(const format_options& options);
result<std::unique_ptr<row_reader>> make_libffm_reader(const format_options& options);

}  // namespace troupe
