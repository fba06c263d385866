#pragma once
// Data whose truth is known: LIBSVM text drawn from a sparse logistic model, for a machine that has
// no data of its own and for tests of what can be learned at all.
//
// Rows are sets of features of value 1. Feature popularity falls like 1 / rank, as that of words
// does, and the index (from 1) is the rank. Three in ten features have a normally distributed
// weight, the others none; the label is +1 with probability sigmoid(bias + sum of weights), else
// -1. The same options give the same bytes everywhere.

#include <cstdint>
#include <string>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe::apps {

struct synthetic_options {
  std::uint64_t rows = 20'000;
  std::uint64_t test_rows = 5'000;
  std::uint64_t features = 10'000;
  std::uint64_t per_row =
      20;  // on average: a row has 1 to 2 * per_row - 1, and never more than there are
  std::uint64_t seed = 1;
  std::string folder;  // made if absent
};

// Writes train.svm, test.svm and, last, truth.txt into the folder: first "bias VALUE", then "KEY
// WEIGHT" for each weight that is not zero, where KEY is index - 1; and, as comments, what that
// model scores on the test rows.
result<void> make_synthetic_data(file_system& files, const synthetic_options& options);

}  // namespace troupe::apps
