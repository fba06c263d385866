#pragma once
// The rows of Criteo's click logs: a label, 13 counts and 26 categories, between tabs; 39 columns
// where labels may be missing. An empty column is missing, and no feature.
//
// The counts are the namespaces I1 to I13 (fields 0 to 12), the categories C1 to C26 (13 to 38).
// A category is a feature of value 1, its key the hash of its text in its namespace. A count is a
// whole number, negative ones included, and becomes what `numbers` says; by default one of the
// buckets of Juan, Zhuang, Chin and Lin (Field-aware Factorization Machines for CTR Prediction,
// RecSys 2016; their winning entry of Criteo's contest).

#include <memory>

#include "actors/worker/data/row_reader.hpp"

namespace troupe {

result<std::unique_ptr<row_reader>> make_criteo_reader(const format_options& options);

}  // namespace troupe
