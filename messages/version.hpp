#pragma once
// What two nodes compare before they talk. A type's registered name, an atom or a field's meaning
// that changes raises protocol_version.

#include <cstdint>

namespace troupe {

constexpr std::uint32_t protocol_version = 7;
const char* build_version();  // "0.1.0"

}  // namespace troupe
