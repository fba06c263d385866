#pragma once
// A saved model as text, for other programs and for reading:
//
//   # troupe model: linear, logistic loss, job demo, digest 5f0c...
//   # a key is a feature's number less 1
//   # manifest {"format":1, ...}
//   # table weights: f32, 1 value and 1 of state to a key, 123 rows
//   0<TAB>-0.25<TAB>17.5<TAB>word:game
//
// Each table follows its own comment line; keys ascend; numbers are the shortest digits that read
// back as the same number, first the values and then the optimiser's state; the name comes last,
// where a dictionary has one. text_import.hpp reads it back. Sorted in memory: 16 bytes a row on
// top of the model.

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/model/dictionary.hpp"
#include "apps/model/model_folder.hpp"

namespace troupe {

struct text_export_options {
  // Leaves out optimiser state, and rows of nothing but zeros, which are there for it alone.
  bool weights_only = false;
};

constexpr const char* manifest_mark = "# manifest ";

result<void> export_text(const saved_model& model, const dictionary& names,
                         const text_export_options& options, std::ostream& out);

struct named_weight {
  key_id key = 0;
  double value = 0;
  std::string name;  // empty: none is known
};

struct telling_features {
  std::vector<named_weight> positive, negative;  // the strongest first
};

// The `count` largest and the `count` smallest values of the table; those of zero tell nothing.
// Ties go by key. The table must have one value to a key.
telling_features most_telling(const table& weights, const dictionary& names, std::size_t count);
void print(const telling_features& features, std::ostream& out);

}  // namespace troupe
