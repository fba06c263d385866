#pragma once
// 128-bit products, for ranks on a ring of 2^64 positions.

namespace troupe {

__extension__ using uint128 = unsigned __int128;

}  // namespace troupe
