#pragma once
// What becomes of a row's features between the reader and the model, in this order: namespaces that
// are ignored go, those with a factor are multiplied by it, interactions are added, and the row is
// scaled. Training, evaluation and prediction shape rows alike: a model keeps these settings.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/worker/data/row_reader.hpp"
#include "core/bytes.hpp"
#include "core/result.hpp"

namespace troupe {

enum class row_scaling {
  none,
  unit_length,  // divided by the Euclidean length of the row's values
};

// Namespaces are Criteo's I1 to C26, the columns of CSV text, the fields of libffm text as numbers.
struct row_shape {
  std::vector<std::string> ignore;
  std::map<std::string, double> factors;
  // "user*item", up to four namespaces: a feature for each choice of one feature of each, its value
  // their product, its key the hash of their keys. Of a namespace with itself ("word*word") each
  // pair of two features comes once.
  std::vector<std::string> interactions;
  row_scaling scaling = row_scaling::none;

  bool empty() const {
    return ignore.empty() && factors.empty() && interactions.empty() &&
           scaling == row_scaling::none;
  }
};

void encode(const row_shape& shape, byte_writer& out);

class row_shaper {
 public:
  static constexpr std::size_t most_features = std::size_t{1} << 20;  // of a row
  static constexpr std::size_t most_factors = 4;                      // of an interaction

  // An error names the interaction that makes no sense.
  static result<row_shaper> make(const row_shape& shape, const name_hashing& hashing);

  // Finds the namespaces among those of the file that the reader reads now; false: one is unknown.
  bool resolve(const row_reader& reader, row_fault& fault);
  // False: the interactions make too many features.
  bool shape(example& row, row_fault& fault);

 private:
  struct interaction {
    std::vector<std::string> names;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> fields;  // found by resolve()
    std::uint32_t own_field = 0;        // of what it makes
  };
  // False: more features than a row may have.
  bool cross(const interaction& one, example& row);
  bool choose(const interaction& one, example& row, std::size_t depth, double value);

  row_shape shape_;
  name_hashing hashing_;
  std::vector<interaction> interactions_;
  std::vector<std::uint32_t> ignored_;
  std::vector<std::pair<std::uint32_t, double>> scales_;
  std::size_t written_ = 0;  // features of the row before interactions
  // Of the interaction under way: what each factor may be, as places in the row, and what it is.
  std::vector<std::vector<std::size_t>> choices_;
  std::vector<std::size_t> chosen_;
  std::vector<key_id> keys_;
};

}  // namespace troupe
