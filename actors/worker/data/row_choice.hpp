#pragma once
// Which rows of the files a data set has: all of them, or those that a fraction for validation
// leaves or takes, less the negative rows that sampling drops. Every row's lot is a hash of the
// seed and of what the row is, so it depends neither on the other rows' nor on who asks.

#include <cstdint>
#include <string_view>

#include "actors/worker/data/example.hpp"
#include "core/bytes.hpp"

namespace troupe {

struct row_choice {
  enum class part { all, training, validation };
  part which = part::all;
  // Rows of one group stay together, and so do equal lines, wherever they stand.
  double validation_fraction = 0;
  std::uint64_t seed = 0;
  // Of rows with another label than the positive one, by the row's number in the files.
  double negative_keep = 1;
  double positive_label = 1;

  bool everything() const { return which == part::all && negative_keep >= 1; }
  bool on_this_side(std::string_view line, const example& row) const;
  bool drawn(std::uint64_t number, const example& row) const;
};

void encode(const row_choice& choice, byte_writer& out);

}  // namespace troupe
