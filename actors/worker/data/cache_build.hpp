#pragma once
// Text into cache: all files of a data set, in their order, read once and written once in bounded
// memory.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/worker/data/block_builder.hpp"
#include "actors/worker/data/cache_file.hpp"
#include "actors/worker/data/row_choice.hpp"
#include "actors/worker/data/row_reader.hpp"
#include "actors/worker/data/row_shaping.hpp"

namespace troupe {

struct data_options {
  std::string format = "libsvm";  // a name in row_formats::global()
  format_options reading;
  row_shape shape;
  row_choice rows;
  std::uint64_t max_names = 0;  // of hashed features that are kept beside the cache, for reports
  block_limits blocks;          // at least 1 row, at most 1 GiB
  // At most 1 GiB; a longer line is an error and never passed over.
  std::uint64_t max_line_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_bad_rows = 0;  // faulty rows that are passed over, in all files together
  std::string cache_folder;        // made if absent
};

// Of what shapes the blocks; fails for an unknown format or limits out of range.
result<std::uint64_t> digest_of(const data_options& options);

// Of a file's bytes as they lie on disk.
result<source_facts> examine_source(file_system& files, const std::string& path, meter* work_done);

// Writes the cache of `sources` to `path`, and syncs it. Errors of the content are errc::bad_data
// and begin with "file:line:column: ". `names` receives what is hashed; it may be null.
result<void> build_cache(file_system& files, const std::vector<std::string>& sources,
                         const data_options& options, const std::string& path, meter* work_done,
                         std::shared_ptr<name_list> names = nullptr);

}  // namespace troupe
