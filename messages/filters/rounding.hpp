#pragma once
// Rounding to whole multiples of a power of two, up or down by a draw, so that the expectation is
// exact.

#include <cstddef>
#include <cstdint>

namespace troupe {

// Of `count` numbers, `stride` apart: the unit is the least power of two of which `most` are not
// below the largest magnitude; the error is below a unit. Zeros, and whole multiples, stay. All are
// finite. The draws follow from the seed and `index` + i * stride alone. Magnitudes below 2^-1000
// are rounded to multiples of that.
void round_to_multiples(float* numbers, std::size_t count, std::size_t stride, int most,
                        std::uint64_t seed, std::uint64_t index);
void round_to_multiples(double* numbers, std::size_t count, std::size_t stride, int most,
                        std::uint64_t seed, std::uint64_t index);

}  // namespace troupe
