#include "actors/server/table/overwritten.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// The first position >= p from `from` on, in steps that double: runs and pulls may differ much in
// size.
const position* seek(const position* from, const position* end, position p) {
  std::ptrdiff_t step = 1;
  while (step < end - from && from[step] < p) step *= 2;
  return std::lower_bound(from + step / 2, from + std::min(step + 1, end - from), p);
}

void restore_run(const overwritten::run& run, const std::vector<std::byte>& kept,
                 span<const position> positions, std::size_t row_bytes, std::byte* out) {
  const auto *old = run.positions.data(), *old_end = old + run.positions.size();
  const auto *wanted = positions.begin(), *wanted_end = positions.end();
  while (old != old_end && wanted != wanted_end) {
    if (*old < *wanted) {
      old = seek(old, old_end, *wanted);
    } else if (*wanted < *old) {
      wanted = seek(wanted, wanted_end, *old);
    } else {
      std::memcpy(out + static_cast<std::size_t>(wanted - positions.begin()) * row_bytes,
                  kept.data() + static_cast<std::size_t>(old - run.positions.data()) * row_bytes,
                  row_bytes);
      ++old;
      ++wanted;
    }
  }
}

}  // namespace

void overwritten::restore(span<const position> positions, std::size_t row_bytes,
                          std::byte* out) const {
  // Later runs first, so that the first run has the last word.
  for (auto r = runs_.rbegin(); r != runs_.rend(); ++r)
    restore_run(*r, r->values, positions, row_bytes, out);
}

void overwritten::restore_state(span<const position> positions, std::size_t state_bytes,
                                std::byte* out) const {
  for (auto r = runs_.rbegin(); r != runs_.rend(); ++r)
    restore_run(*r, r->state, positions, state_bytes, out);
}

void overwritten::take_back(std::size_t value_bytes, std::size_t state_bytes,
                            table_rows& rows) const {
  restore(rows.positions, value_bytes, rows.values.data());
  if (state_bytes > 0 && !rows.state.empty())
    restore_state(rows.positions, state_bytes, rows.state.data());
  std::vector<position> made;
  for (const auto& r : runs_)
    for (const auto index : r.absent) made.push_back(r.positions[index]);
  if (made.empty()) return;
  std::sort(made.begin(), made.end());
  const auto move_row = [](std::vector<std::byte>& bytes, std::size_t each, std::size_t to,
                           std::size_t from) {
    if (!bytes.empty()) std::memmove(bytes.data() + to * each, bytes.data() + from * each, each);
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.positions.size(); ++i) {
    if (std::binary_search(made.begin(), made.end(), rows.positions[i])) continue;
    rows.positions[kept] = rows.positions[i];
    move_row(rows.values, value_bytes, kept, i);
    move_row(rows.state, state_bytes, kept, i);
    ++kept;
  }
  rows.positions.resize(kept);
  rows.values.resize(kept * value_bytes);
  if (!rows.state.empty()) rows.state.resize(kept * state_bytes);
}

}  // namespace troupe
