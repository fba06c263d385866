#pragma once
// One table's rows of one server, in segments of the ring. A row is a position, `width` values and
// the function's state.
//
// Positions given to a table ascend strictly; the caller has checked it. Values are in the table's
// type, row after row. Not safe from several threads, except that const members may be called
// together.

#include <memory>
#include <optional>
#include <vector>

#include "actors/server/table/overwritten.hpp"
#include "actors/server/table/table_spec.hpp"
#include "core/hash.hpp"
#include "core/result.hpp"
#include "core/span.hpp"

namespace troupe {

struct step_context {
  std::uint64_t clock = 0;        // what the rate's schedule goes by
  double share = 1;               // fraction of the training data that the push stands for
  std::vector<double> told = {};  // numbers for the function
};

struct table_summary {
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;  // values
  double absolutes = 0;        // sum of |value|, in ascending position
  double squares = 0;          // sum of value^2
  // Sum modulo 2^128, over all rows, of xxh3_128(position, values) seeded with the table's name:
  // the same for every sharding and order of insertion, and summaries of several servers add up.
  // State is not in it.
  hash128 digest;
  std::uint64_t live_bytes = 0;
  std::optional<double> largest;  // magnitude of the state that the function's entry names
};

// Adds rows to a summary of their table.
void add_rows(const table_spec& spec, const table_rows& rows, table_summary& sum);

class table {
 public:
  // Errors name the table and the number, word or function that does not fit.
  static result<std::unique_ptr<table>> make(const table_spec& spec, std::uint64_t seed);
  virtual ~table() = default;

  const table_spec& spec() const { return spec_; }
  virtual bool additive() const = 0;
  virtual std::size_t state_bytes() const = 0;   // of a row
  virtual std::size_t pushed_bytes() const = 0;  // of what is pushed to a row
  virtual std::size_t shown_bytes() const = 0;   // of the state that pull_shown() answers

  // False, and nothing done, if it overlaps a segment, or is not there.
  virtual bool add_segment(closed_range range) = 0;
  virtual bool remove_segment(closed_range range) = 0;
  const std::vector<closed_range>& segments() const { return segments_; }  // ascending

  // One step of the function for a whole push, or nothing at all: values or results that are not
  // finite, or an exception of the function, leave every row as it was and give errc::rejected.
  // errc::bad_request: a position that is in no segment, or, dense, that no key has. `keep`, if
  // given, receives what was overwritten.
  virtual result<void> apply(span<const position> positions, const void* values,
                             step_context context, overwritten* keep) = 0;
  // Rows that do not exist read as their initial values. With `before`: as before the pushes it was
  // kept from.
  virtual result<void> pull(span<const position> positions, void* out,
                            const overwritten* before) const = 0;
  // Behind each row's values the shown part of its state. `before` has kept state too.
  virtual result<void> pull_shown(span<const position> positions, void* out,
                                  const overwritten* before) const = 0;
  // Values and, unless null, state of rows as another copy needs them; rows that do not exist read
  // as their initial values and are listed, by index, in `absent` unless null.
  virtual result<void> copy_out(span<const position> positions, void* values, void* state,
                                std::vector<std::uint32_t>* absent) const = 0;
  // At most `limit` (> 0) existing rows inside `range` of all segments. Where positions crowd
  // together a read passes over all rows, so read large tables in few pieces (rows_for_reading).
  virtual table_rows read_range(closed_range range, std::uint64_t limit,
                                bool with_state = false) const = 0;
  // Sets rows as another copy or a file had them; `state` may be null: zero.
  virtual result<void> put(span<const position> positions, const void* values,
                           const void* state) = 0;

  virtual std::size_t rows() const = 0;
  virtual std::size_t live_bytes() const = 0;  // of rows and the gaps between them
  virtual std::optional<double> largest_state() const = 0;
  table_summary summary() const;
  // Moves `ranges` (ascending, each within one segment) and their rows into `other`, which is of
  // the same specification and has none of them. What is left of a cut segment stays.
  void give_away(const std::vector<closed_range>& ranges, table& other);
  // A limit for reading the whole table: some pieces, and none of them very small.
  std::uint64_t rows_for_reading() const;

 protected:
  explicit table(table_spec spec) : spec_(std::move(spec)) {}

  const table_spec spec_;
  std::vector<closed_range> segments_;
};

}  // namespace troupe
