#pragma once
// Gathers examples into blocks. Where one block ends and the next begins depends on the rows and
// the limits alone: neither on how the rows lie in files nor on who trains on them.

#include <cstdint>
#include <vector>

#include "actors/worker/data/block.hpp"

namespace troupe {

struct block_limits {
  std::uint64_t rows = 16384;
  std::uint64_t bytes = std::uint64_t{32} << 20;  // a block that reaches it takes no more rows
};

class block_builder {
 public:
  explicit block_builder(block_limits limits) : limits_(limits) { start(0); }

  // Needs !full(). Two features of one key and one field are the reader's mistake; both are kept.
  void add(const example& row);
  bool full() const { return now_.rows() >= limits_.rows || bytes_ >= limits_.bytes; }
  bool empty() const { return now_.rows() == 0; }
  // The block so far; the builder goes on with the row behind it.
  block finish();

 private:
  // A key's number while the block grows, in the order of appearance; keys are held as mix(key),
  // since positions hash themselves and are what the finished keys are sorted by.
  struct entry {
    position at = 0;
    std::uint32_t number_plus_one = 0;  // 0: vacant
  };

  void start(std::uint64_t first_row);
  std::uint32_t number_of(position at);
  void grow();
  void put_value(float value);
  void put_field(std::uint32_t field);
  void put_weight(double weight);
  void put_group(const example& row);
  void put_id(const example& row);
  std::vector<std::uint32_t> sort_keys();
  void sort_row(std::size_t row);
  template <class T>
  void reorder(std::vector<T>& items, std::size_t begin, std::vector<T>& scratch);

  block_limits limits_;
  block now_;
  std::uint64_t bytes_ = 0;
  std::size_t usual_entries_ = 0;  // of the block before
  std::vector<entry> index_;       // open addressing, a power of two long, at most half full
  std::vector<position> positions_;
  std::vector<std::uint64_t> order_;  // scratch of sort_row
  std::vector<float> value_;
  std::vector<std::uint32_t> field_;
};

}  // namespace troupe
