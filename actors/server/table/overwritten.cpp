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

void restore_run(const overwritten::run& run, span<const position> positions, std::size_t row_bytes,
                 std::byte* out) {
  const auto *old = run.positions.data(), *old_end = old + run.positions.size();
  const auto *wanted = positions.begin(), *wanted_end = positions.end();
  while (old != old_end && wanted != wanted_end) {
    if (*old < *wanted) {
      old = seek(old, old_end, *wanted);
    } else if (*wanted < *old) {
      wanted = seek(wanted, wanted_end, *old);
    } else {
      std::memcpy(
          out + static_cast<std::size_t>(wanted - positions.begin()) * row_bytes,
          run.values.data() + static_cast<std::size_t>(old - run.positions.data()) * row_bytes,
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
  for (auto r = runs_.rbegin(); r != runs_.rend(); ++r) restore_run(*r, positions, row_bytes, out);
}

}  // namespace troupe
