#pragma once
// What is known of a whole data set once it has been read: of all its files together, never of a
// slot's part.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/worker/data/block.hpp"
#include "core/bytes.hpp"

namespace troupe {

struct data_facts {
  static constexpr std::size_t most_labels = 64;

  std::uint64_t rows = 0;
  std::uint64_t entries = 0;         // features of all rows, with repetition
  std::uint64_t longest_row = 0;     // features
  key_id smallest_key = ~key_id{0};  // smallest > largest: there is no feature at all
  key_id largest_key = 0;
  std::uint32_t largest_field = 0;
  double smallest_label = 0, largest_label = 0;  // 0 without rows
  std::map<double, std::uint64_t> labels;  // rows of each label, of at most most_labels labels
  bool labels_complete = true;             // no further label occurs
  bool all_values_one = true;
  bool has_weights = false, has_groups = false, has_ids = false;

  void add(const block& rows);
};

// Rows that a skip budget let pass.
struct skipped_rows {
  static constexpr std::size_t most_reported = 5;
  std::uint64_t count = 0;
  std::vector<std::string> first;  // "file:line:column: reason"
};

void encode(const data_facts& facts, byte_writer& out);
data_facts decode_facts(byte_reader& in);  // check in.ok()
void encode(const skipped_rows& skipped, byte_writer& out);
skipped_rows decode_skipped(byte_reader& in);

}  // namespace troupe
