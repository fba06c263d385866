#pragma once
// A data set ready for training: one or more text files, turned once into a cache of blocks and
// read from there.
//
// The cache lies in the folder that the options name, under a name made of the sources' sizes,
// samples of their bytes and the options, so that moving or renaming a source changes nothing. It
// is used when its sources have the content it was made from (their times tell, or else their
// hash), made anew when it is stale, damaged or of another version, and made by one process while
// others wait for it. The folder may be deleted whenever no job runs.
//
// Calls block on the disk. Safe to use from several threads.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/worker/data/cache_build.hpp"
#include "core/file.hpp"
#include "core/meter.hpp"
#include "core/result.hpp"

namespace troupe {

class dataset {
 public:
  // `work_done` may be null, else it outlives the data set. No rows at all is no error here.
  static result<std::shared_ptr<const dataset>> open(std::shared_ptr<file_system> files,
                                                     std::vector<std::string> sources,
                                                     data_options options, meter* work_done);

  std::uint64_t rows() const { return contents_.facts.rows; }
  const data_facts& facts() const { return contents_.facts; }
  const skipped_rows& skipped() const { return contents_.skipped; }
  std::uint64_t dropped_negatives() const { return contents_.dropped_negatives; }
  const std::vector<block_place>& blocks() const { return contents_.blocks; }
  // The same for the same rows and options, however they are cut into files.
  std::uint64_t digest() const { return contents_.digest; }
  const std::string& cache_path() const { return path_; }
  // The names of hashed features, lines "key TAB name"; empty: none were kept.
  std::string names_path() const;

  // Verified. A block damaged since the cache was opened is healed from the sources; where that is
  // impossible, or they have changed, the error is errc::damaged and says so.
  result<std::shared_ptr<const block>> load_block(std::size_t index) const;

 private:
  dataset(std::shared_ptr<file_system> files, std::vector<std::string> sources,
          data_options options, meter* work_done);

  result<std::string> name() const;
  result<bool> fresh(const cache_contents& found) const;
  result<std::shared_ptr<const cache_file>> open_fresh() const;
  result<std::shared_ptr<const cache_file>> open_or_build() const;
  result<std::shared_ptr<const cache_file>> build() const;
  std::string times(std::uint64_t cache_digest) const;
  result<std::shared_ptr<const block>> heal(std::size_t index, const error& damage) const;

  std::shared_ptr<file_system> files_;
  std::vector<std::string> sources_;
  data_options options_;
  meter* meter_;
  std::uint64_t options_digest_ = 0;
  std::string path_;
  cache_contents contents_;
  mutable std::mutex mutex_;  // guards cache_
  mutable std::shared_ptr<const cache_file> cache_;
};

}  // namespace troupe
