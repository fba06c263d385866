#pragma once
// How the features of a data set are cut into the blocks of a block-coordinate solver: a function
// of the whole data set, so that all slots, in whatever process, agree on it.
//
//   range       runs of keys with about the same number of entries each
//   exclusive   the fewest runs of keys of which no row has two: the curvature of such a block is
//               diagonal, and its bound is exact
//   group       features of one field (of data that name fields) each
//   automatic   exclusive where that makes few enough blocks, else range

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/worker/data/dataset.hpp"
#include "core/result.hpp"

namespace troupe {

enum class block_cut { automatic, range, exclusive, group };
// By the configuration's words.
result<block_cut> block_cut_of(const std::string& word);

struct block_plan {
  std::vector<key_id> keys;          // all of the data set's, ascending
  std::vector<std::uint32_t> block;  // of each
  std::uint32_t blocks = 1;
  std::uint64_t digest() const;
};

struct block_plan_settings {
  block_cut cut = block_cut::automatic;
  std::uint32_t count = 64;  // of ranges; of exclusive blocks at most, if the cut is automatic
};

// Reads every block of rows once. An error if groups are asked for and no feature has a field.
result<block_plan> plan_blocks(const dataset& rows, const block_plan_settings& settings);

}  // namespace troupe
