#pragma once
// The file into which a data set's text is turned once. Little-endian:
//
//   header    "TRPDATA\n", u32 version, u32 zero
//   blocks    encode(block), one behind the other
//   footer    options digest, content digest, sources, facts, skipped and dropped rows, block index
//   trailer   u64 offset of the footer, u64 its size, u64 xxh3 of it, "TRPDEND\n"
//
// Every block's xxh3 is in the index. Opening reads and verifies all but the blocks; a block is
// verified when it is read. What does not verify is errc::damaged and names file and offset.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/worker/data/block.hpp"
#include "actors/worker/data/facts.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/meter.hpp"

namespace troupe {

struct block_place {
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
  std::uint64_t offset = 0;  // in the cache file
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

struct source_facts {
  std::uint64_t size = 0;
  std::uint64_t digest = 0;  // of the bytes on disk
  friend bool operator==(const source_facts& a, const source_facts& b) {
    return a.size == b.size && a.digest == b.digest;
  }
};

struct cache_contents {
  std::uint64_t options = 0;  // digest of what shaped the blocks
  std::uint64_t digest =
      0;  // of the blocks: the same rows and options give the same, however cut into files
  std::vector<source_facts> sources;
  data_facts facts;
  skipped_rows skipped;
  std::uint64_t dropped_negatives = 0;  // by row_choice::negative_keep
  std::vector<block_place> blocks;      // in row order, without gaps
};

class cache_writer {
 public:
  static result<cache_writer> create(file_system& files, const std::string& path, meter* work_done);
  result<void> add(const block& rows);  // in row order
  // Completes the file and syncs it; blocks, facts and digest of `contents` are filled in here.
  result<void> finish(cache_contents contents);

 private:
  cache_writer(std::unique_ptr<writable_file> file, meter* work_done);
  result<void> append(span<const std::byte> bytes);

  std::unique_ptr<writable_file> file_;
  meter* meter_;
  std::uint64_t offset_ = 0;
  byte_writer scratch_;
  std::vector<block_place> blocks_;
  data_facts facts_;
  std::unique_ptr<running_hash> digest_;
};

// Safe to use from several threads.
class cache_file {
 public:
  static result<cache_file> open(file_system& files, const std::string& path, meter* work_done);
  const cache_contents& contents() const { return contents_; }
  result<std::shared_ptr<const block>> read(std::size_t index) const;

 private:
  cache_file(std::string path, std::unique_ptr<readable_file> file, meter* work_done);
  result<void> read_footer();
  result<std::vector<std::byte>> bytes_at(std::uint64_t offset, std::uint64_t size) const;
  error damaged(const std::string& reason) const;

  std::string path_;
  std::unique_ptr<readable_file> file_;
  meter* meter_;
  cache_contents contents_;
};

}  // namespace troupe
