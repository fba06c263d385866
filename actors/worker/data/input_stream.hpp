#pragma once
// A file's content from front to back, unpacked on the way: plain, gzip (RFC 1952, with several
// members) or xz (with several streams). What it is, its first bytes tell and not its name. Memory
// is bounded: a window of the compressed file and the decoder's own (at most 512 MiB for xz, or the
// file is refused).
//
// Truncated or corrupt input is errc::bad_data and names the file and the offset in it; a disk's
// failure is errc::io. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/meter.hpp"
#include "core/result.hpp"
#include "core/span.hpp"

namespace troupe {

class input_stream {
 public:
  virtual ~input_stream() = default;
  // Fills at most buffer.size() bytes; 0 means the end of the content.
  virtual result<std::size_t> read(span<std::byte> buffer) = 0;
};

// The bytes of a file as they lie on disk, with a hash of all that went by.
class raw_source {
 public:
  // "-" is standard input.
  static result<std::unique_ptr<raw_source>> open(file_system& files, const std::string& path,
                                                  meter* work_done);

  // The bytes from offset() on: at least `wanted` of them if the file has as many left (wanted <=
  // window).
  result<span<const std::byte>> peek(std::size_t wanted = 1);
  void consume(std::size_t count);

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return offset_; }         // of the next byte not consumed
  std::uint64_t digest() const { return hash_.digest(); }  // of the bytes consumed

  static constexpr std::size_t window = std::size_t{256} << 10;

 private:
  raw_source(std::string path, std::unique_ptr<readable_file> file, meter* work_done);

  std::string path_;
  std::unique_ptr<readable_file> file_;
  meter* meter_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;
  running_hash hash_;
};

// Unpacks `source`, which must outlive the stream. At the stream's end the source is consumed to
// its end.
result<std::unique_ptr<input_stream>> open_input(raw_source& source);

}  // namespace troupe
