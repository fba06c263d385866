#pragma once
// A slot's rows stored by blocks of features, made once from its data set and kept beside the
// data set's cache, under a name made of the rows, the slot's part and the plan. Little-endian:
//
//   header    "TRPCOLS\n", u32 version, u32 zero
//   blocks    encode(column_block), one behind the other
//   footer    u64 digest of what it was made from, u64 rows, labels f64, weights f64 (none: all 1),
//             u64 blocks, and of each u64 offset, size, xxh3
//   trailer   u64 offset of the footer, u64 its size, u64 xxh3 of it, "TRPCEND\n"
//
// What does not verify is made again. Making it holds the slot's entries in memory once, 8 bytes
// each; reading holds the blocks that were used last, `most_bytes` of them.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/worker/data/dataset.hpp"
#include "actors/worker/data/slots.hpp"
#include "apps/linear/blocks/block_plan.hpp"
#include "apps/linear/blocks/column_block.hpp"
#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

// Safe to use from several threads.
class column_file {
 public:
  static constexpr std::uint64_t usual_bytes = std::uint64_t{1} << 30;

  // Opens it, or makes it from the slot's part of `rows`.
  static result<std::shared_ptr<column_file>> open(std::shared_ptr<file_system> files,
                                                   const dataset& rows, const block_plan& plan,
                                                   std::uint32_t slots, std::uint32_t slot,
                                                   std::uint64_t most_bytes = usual_bytes);

  std::uint64_t rows() const { return labels_.size(); }
  std::uint64_t entries() const { return entries_; }
  const std::vector<double>& labels() const { return labels_; }    // as the data write them
  const std::vector<double>& weights() const { return weights_; }  // empty: all 1
  std::size_t blocks() const { return places_.size(); }

  // The block if it is at hand, else null. Never waits for the disk.
  std::shared_ptr<const column_block> find(std::size_t index);
  result<std::shared_ptr<const column_block>> load(std::size_t index);

 private:
  struct place {
    std::uint64_t offset = 0, size = 0, checksum = 0;
  };
  struct kept {
    std::size_t index = 0;
    std::shared_ptr<const column_block> columns;
  };
  column_file(std::shared_ptr<file_system> files, std::string path, std::uint64_t most_bytes)
      : files_(std::move(files)), path_(std::move(path)), most_bytes_(most_bytes) {}
  result<void> read(std::uint64_t digest);
  result<void> make(const dataset& rows, const block_plan& plan, row_range part,
                    std::uint64_t digest);
  result<std::vector<std::byte>> bytes_at(std::uint64_t offset, std::uint64_t size) const;
  error damaged(const std::string& why) const;
  void keep(std::size_t index, std::shared_ptr<const column_block> columns);

  const std::shared_ptr<file_system> files_;
  const std::string path_;
  const std::uint64_t most_bytes_;
  std::unique_ptr<readable_file> file_;
  std::vector<double> labels_, weights_;
  std::vector<place> places_;
  std::uint64_t entries_ = 0;
  std::mutex mutex_;        // guards what follows
  std::list<kept> by_use_;  // the latest first
  std::map<std::size_t, std::list<kept>::iterator> by_index_;
  std::uint64_t bytes_ = 0;
};

}  // namespace troupe
