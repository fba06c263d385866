#pragma once
// What the rows of a data set are like, counted in one pass and bounded memory.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worker/data/example.hpp"

namespace troupe {

// How many different numbers there are, exact up to a bound.
class distinct_count {
 public:
  static constexpr std::uint64_t most = std::uint64_t{1} << 22;
  // False: it was there before, or the bound is reached.
  bool add(std::uint64_t hash);
  std::uint64_t count() const { return count_; }
  bool exact() const { return exact_; }

 private:
  std::vector<std::uint64_t> seen_;  // open addressing; 0: vacant
  std::uint64_t count_ = 0;
  bool exact_ = true, zero_ = false;
};

struct value_range {
  double least = 0, most = 0;
  bool any = false;
  void add(double value) {
    least = any && least < value ? least : value;
    most = any && most > value ? most : value;
    any = true;
  }
};

struct data_report {
  static constexpr std::size_t most_labels = 64;

  std::uint64_t rows = 0, unlabelled = 0, entries = 0;
  std::uint64_t shortest = 0, longest = 0;  // features of a row
  std::uint64_t faults = 0;
  std::map<double, std::uint64_t> labels;  // the first most_labels
  bool labels_complete = true;
  distinct_count keys, lines;
  std::uint64_t duplicates = 0;  // rows like an earlier one, while `lines` is exact
  key_id smallest_key = ~key_id{0}, largest_key = 0;
  value_range values, weights;
  std::uint64_t zeros = 0, ones = 0;
  std::uint32_t largest_field = 0;
  distinct_count groups;
  std::uint64_t with_id = 0, with_group = 0;

  void add(std::string_view line, const example& row);
};

// `index_base` turns keys back into indices, where the format has them.
void print(const data_report& report, bool has_indices, std::uint64_t index_base,
           std::ostream& out);

}  // namespace troupe
