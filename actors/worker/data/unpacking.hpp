#pragma once
// The decoders behind open_input().

#include <memory>

#include "actors/worker/data/input_stream.hpp"

namespace troupe {

// Each expects its own magic bytes at the source's offset.
result<std::unique_ptr<input_stream>> gzip_stream(raw_source& source);
result<std::unique_ptr<input_stream>> xz_stream(raw_source& source);

}  // namespace troupe
