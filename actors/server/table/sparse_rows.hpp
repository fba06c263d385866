#pragma once
// Rows that exist from their first push on, by ordered open addressing.
//
// A position's home slot is its rank in the range, scaled to the capacity; rows stand in ascending
// order, each at its home or in the first free slot after the row before it. So a sorted batch
// walks memory forward, and a range read is a scan. (Amble and Knuth, Ordered hash tables, 1974,
// with an order-preserving hash function.)
//
// Growing happens in place: the rows move to the far end of the enlarged arrays and are spread out
// from there, so at no time are there two copies, not even of a server's only segment.
//
// Positions that crowd together would make long probes. When a row would stand more than
// `most_displaced` slots from home, the range is scattered once and for all: rows are then ordered
// by mix(position), and range reads sort.

#include "actors/server/table/growing_memory.hpp"
#include "actors/server/table/row_storage.hpp"

namespace troupe {

class sparse_rows final : public row_storage {
 public:
  static constexpr std::uint64_t most_displaced = 1024;

  // The range must leave out one position of the ring at least: free slots are marked with what
  // cannot be in it.
  sparse_rows(closed_range range, row_bytes sizes);

  void locate(span<const position> positions, row_slot* slots) const override;
  void insert(span<const position> positions, const std::byte* values,
              const std::byte* state) override;
  void list(closed_range within, std::size_t limit, std::vector<placed_row>& rows) const override;

  std::byte* values() const override { return static_cast<std::byte*>(values_.data()); }
  std::byte* state() const override { return static_cast<std::byte*>(state_.data()); }
  std::size_t rows() const override { return rows_; }
  std::size_t live_bytes() const override {
    return keys_.size() + values_.size() + state_.size() + sizeof *this;
  }
  bool scattered() const { return scattered_; }
  std::uint64_t worst_displacement() const;

 private:
  // A row's place in the order: an offset in the range, or mixed; never `free_slot`.
  using order = std::uint64_t;
  static constexpr order free_slot = ~order{0};
  static constexpr std::size_t window =
      8;  // compared at once, so that many free slots follow the last

  struct batch {
    std::vector<order> orders;        // ascending
    std::vector<std::uint32_t> from;  // index of each in values and state
    const std::byte* values;
    const std::byte* state;
  };
  struct plan {
    std::uint64_t end = 0;           // slots in use: one past the last row
    std::uint64_t displacement = 0;  // the worst
  };

  order* keys() const { return static_cast<order*>(keys_.data()); }
  order order_of(position p) const;
  position position_of(order o) const;
  std::uint64_t home(order o) const;
  std::uint64_t lower_bound(order o) const;
  void list_scattered(closed_range wanted, std::size_t limit, std::vector<placed_row>& rows) const;
  template <bool mixed, bool far>
  void locate_all(span<const position> positions, row_slot* slots) const;

  batch batch_of(span<const position> positions, const std::byte* values,
                 const std::byte* state) const;
  bool insert_one(order o, const std::byte* value, const std::byte* state);
  void merge(const batch& fresh);
  void set_capacity(std::uint64_t capacity);
  plan plan_merge(const batch& fresh) const;
  void compact_towards_end(std::uint64_t slots);
  void spread(const batch& fresh);
  void scatter();
  void copy_row(std::uint64_t to, const std::byte* value, const std::byte* state);

  const row_bytes sizes_;
  growing_memory keys_, values_, state_;
  std::uint64_t capacity_ = 0;  // homes
  std::uint64_t slots_ = 0;     // capacity and what rows at the end spilled over
  std::uint64_t scale_ = 0;     // home = high word of (order << shift) * scale
  unsigned shift_ = 0;
  std::size_t rows_ = 0;
  bool scattered_ = false;
};

}  // namespace troupe
