#pragma once
// A table whose values are T: floats or doubles. Its rows lie in one row_storage for each segment
// ("piece"); a segment of the whole ring is two pieces.
//
// A push runs in chunks: rows are copied out, the function works on the copies, and finite results
// are copied back. What the rows held before is kept until the whole push is through, and so are
// rows that do not exist yet, which are inserted last; a refusal puts everything back.

#include "actors/server/functions/function_registry.hpp"
#include "actors/server/table/initialiser.hpp"
#include "actors/server/table/row_storage.hpp"
#include "actors/server/table/table.hpp"

namespace troupe {

template <class T>
class typed_table final : public table {
 public:
  typed_table(const table_spec& spec, std::uint64_t seed, const function_entry& function,
              std::unique_ptr<server_function<T>> apply_with);

  bool additive() const override { return additive_; }
  std::size_t state_bytes() const override { return state_width_ * sizeof(T); }
  std::size_t pushed_bytes() const override { return pushed_width_ * sizeof(T); }
  std::size_t shown_bytes() const override { return shown_width_ * sizeof(T); }
  bool add_segment(closed_range range) override;
  bool remove_segment(closed_range range) override;
  result<void> apply(span<const position> positions, const void* values, step_context context,
                     overwritten* keep) override;
  result<void> pull(span<const position> positions, void* out,
                    const overwritten* before) const override;
  result<void> pull_shown(span<const position> positions, void* out,
                          const overwritten* before) const override;
  result<void> copy_out(span<const position> positions, void* values, void* state,
                        std::vector<std::uint32_t>* absent) const override;
  table_rows read_range(closed_range range, std::uint64_t limit, bool with_state) const override;
  result<void> put(span<const position> positions, const void* values, const void* state) override;
  std::optional<double> largest_state() const override;
  std::size_t rows() const override;
  std::size_t live_bytes() const override;

 private:
  // The positions of one request that lie in one piece.
  struct part {
    row_storage* rows;
    std::size_t from, count;
  };
  // A part's rows that do not exist yet.
  struct fresh_rows {
    std::vector<position> positions;
    std::vector<T> values, state;
    void clear() { positions.clear(), values.clear(), state.clear(); }
    void add(position at, span<const T> value, span<const T> its_state) {
      positions.push_back(at);
      values.insert(values.end(), value.begin(), value.end());
      state.insert(state.end(), its_state.begin(), its_state.end());
    }
  };

  result<std::vector<part>> parts_of(span<const position> positions) const;
  result<void> locate(const part& p, span<const position> positions, row_slot* slots) const;
  std::unique_ptr<row_storage> make_piece(closed_range range) const;
  void initialise(row_storage& dense) const;

  result<void> run(const std::vector<part>& parts, span<const position> positions, const T* pushed,
                   const step& now, std::size_t& done);
  void read_chunk(const part& p, span<const position> at, std::size_t from);
  const T* clipped(const T* pushed, std::size_t rows);
  bool finite_chunk(std::size_t rows) const;
  void write_chunk(const part& p, span<const position> at, std::size_t from, fresh_rows& fresh);
  template <class Visit>
  void for_state_arrays(Visit&& visit) const;
  void undo(const std::vector<part>& parts, std::size_t done);
  void keep_old(span<const position> positions, overwritten& keep);

  T* values_of(const row_storage& piece, row_slot slot) const {
    return reinterpret_cast<T*>(piece.values()) + slot * width_;
  }
  T* state_of(const row_storage& piece, row_slot slot) const {
    return reinterpret_cast<T*>(piece.state()) + slot * state_width_;
  }

  const std::size_t width_, pushed_width_;
  const state_layout layout_;
  const std::size_t state_width_, shown_width_;
  const std::optional<std::uint32_t> largest_;
  const bool additive_;
  const std::size_t chunk_rows_;
  const initialiser init_;
  const std::unique_ptr<server_function<T>> function_;
  std::vector<std::unique_ptr<row_storage>> pieces_;  // ascending

  // Of the push under way, kept for the next.
  std::vector<row_slot> slots_;
  std::vector<T> old_values_, old_state_;  // what its rows held, row after row
  std::vector<fresh_rows> fresh_;          // by part
  std::vector<T> chunk_values_, chunk_pushed_, chunk_state_, chunk_rows_state_;
  std::vector<T*> per_value_, per_row_;  // the arrays in chunk_state_
};

}  // namespace troupe
