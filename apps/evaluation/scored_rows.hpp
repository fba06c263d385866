#pragma once
// The scores of a data set, part by part, in little memory: 9 bytes a row where all weights are 1
// and there are few different labels, 32 at most.

#include <cstdint>
#include <map>
#include <vector>

#include "core/blob.hpp"

namespace troupe {

// A row without a group, in the numbers of an evaluation.
constexpr std::uint64_t no_group = ~std::uint64_t{0};

class scored_rows {
 public:
  struct row {
    double score = 0, label = 0, weight = 1;
    std::uint64_t group = no_group;
  };

  // `numbers`: (score, label, weight) of each row, f64 each, and, with 4 columns, the bits of its
  // group. A part that comes again replaces the one before.
  void put(std::uint32_t part, const blob& numbers, std::uint32_t columns);

  std::uint64_t rows() const;
  bool has_groups() const;
  // Calls visit(row) for each row: parts in their order, rows in theirs.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [number, p] : parts_)
      for (std::size_t i = 0; i < p.score.size(); ++i)
        visit(row{p.score[i], p.code.empty() ? p.label[i] : p.label[p.code[i]],
                  p.weight.empty() ? 1 : p.weight[i], p.group.empty() ? no_group : p.group[i]});
  }

 private:
  struct part {
    std::vector<double> score;
    std::vector<double> label;       // of each row, or, with codes, each different one
    std::vector<std::uint8_t> code;  // of each row, or empty
    std::vector<double> weight;      // of each row, or empty: all 1
    std::vector<std::uint64_t> group;
  };
  std::map<std::uint32_t, part> parts_;
};

}  // namespace troupe
