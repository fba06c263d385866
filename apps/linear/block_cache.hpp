#pragma once
// The blocks of a data set that were used last, shared by all slots of a process, so that an epoch
// over data that fit into memory reads each block once. Safe from several threads.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "actors/worker/data/dataset.hpp"
#include "core/result.hpp"

namespace troupe {

class block_cache {
 public:
  static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20;

  // Keeps at most `most_bytes` of blocks, but always the last one.
  explicit block_cache(std::shared_ptr<const dataset> data, std::uint64_t most_bytes = usual_bytes)
      : data_(std::move(data)), most_bytes_(most_bytes) {}

  const dataset& data() const { return *data_; }

  // The block if it is at hand, else null. Never waits for the disk.
  std::shared_ptr<const block> find(std::size_t index);
  // Reads it if need be.
  result<std::shared_ptr<const block>> load(std::size_t index);

 private:
  struct kept {
    std::size_t index = 0;
    std::shared_ptr<const block> rows;
    std::uint64_t bytes = 0;
  };
  void keep(std::size_t index, const std::shared_ptr<const block>& rows);

  const std::shared_ptr<const dataset> data_;
  const std::uint64_t most_bytes_;
  std::mutex mutex_;        // guards what follows
  std::list<kept> by_use_;  // the latest first
  std::map<std::size_t, std::list<kept>::iterator> by_index_;
  std::uint64_t bytes_ = 0;
};

}  // namespace troupe
