#pragma once
// Files that a test writes and reads whole, and the packings that readers undo.

#include <doctest/doctest.h>
#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/file.hpp"

namespace troupe::testing {

inline void write_file(const std::string& path, std::string_view content) {
  auto file = posix_file_system()->create(path);
  REQUIRE(file);
  REQUIRE((*file)->append({reinterpret_cast<const std::byte*>(content.data()), content.size()}));
  REQUIRE((*file)->close());
}

inline std::string read_file(const std::string& path) {
  auto text = read_text(*posix_file_system(), path, std::uint64_t{1} << 32);
  REQUIRE(text);
  return *std::move(text);
}

inline std::string gzipped(std::string_view text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

inline std::string xzipped(std::string_view text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  REQUIRE(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr,
                                  reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                  reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                                  packed.size()) == LZMA_OK);
  packed.resize(size);
  return packed;
}

}  // namespace troupe::testing
