#include "actors/worker/data/cache_build.hpp"

#include "actors/worker/data/row_stream.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// The way of one data set's rows from text into a cache that is being written.
class cache_build {
 public:
  cache_build(file_system& files, const data_options& options, row_pipeline pipeline,
              cache_writer writer, meter* work_done)
      : files_(files),
        options_(options),
        pipeline_(std::move(pipeline)),
        writer_(std::move(writer)),
        builder_(options.blocks),
        meter_(work_done) {}

  result<void> add_file(const std::string& path) {
    auto before = files_.facts(path);
    if (!before) return before.failure();
    auto rows = row_stream::open(files_, path, pipeline_, options_.max_line_bytes, meter_);
    if (!rows) return rows.failure();
    auto read = add_rows(**rows);
    if (!read) return read;
    auto after = files_.facts(path);
    if (!after) return after.failure();
    if (after->size != before->size || after->modified_ns != before->modified_ns)
      return error{errc::bad_data, path + " was changed while it was read"};
    const auto& source = (*rows)->source();
    contents_.sources.push_back({source.offset(), source.digest()});
    return {};
  }

  result<void> finish(std::uint64_t options_digest) {
    if (!builder_.empty()) {
      auto written = writer_.add(builder_.finish());
      if (!written) return written;
    }
    contents_.options = options_digest;
    return writer_.finish(std::move(contents_));
  }

 private:
  result<void> add_rows(row_stream& rows) {
    for (;;) {
      const auto step = rows.next(row_);
      if (!step) return step.failure();
      if (*step == row_stream::step::end) return {};
      auto taken = *step == row_stream::step::row ? add_row(rows.line()) : skip(rows.fault());
      if (!taken) return taken;
    }
  }

  result<void> add_row(std::string_view line) {
    const auto& choice = options_.rows;
    const auto number = seen_++;
    if (!choice.everything()) {
      if (!choice.on_this_side(line, row_)) return {};
      if (!choice.drawn(number, row_)) {
        ++contents_.dropped_negatives;
        return {};
      }
    }
    builder_.add(row_);
    if (!builder_.full()) return {};
    return writer_.add(builder_.finish());
  }

  result<void> skip(std::string fault) {
    auto& skipped = contents_.skipped;
    if (skipped.count >= options_.max_bad_rows) {
      if (options_.max_bad_rows > 0)
        fault += format(" (and %llu faulty rows were passed over before, the most allowed)",
                        static_cast<unsigned long long>(skipped.count));
      return error{errc::bad_data, std::move(fault)};
    }
    ++skipped.count;
    if (skipped.first.size() < skipped_rows::most_reported)
      skipped.first.push_back(std::move(fault));
    return {};
  }

  file_system& files_;
  const data_options& options_;
  row_pipeline pipeline_;
  cache_writer writer_;
  block_builder builder_;
  meter* meter_;
  cache_contents contents_;
  example row_;
  std::uint64_t seen_ = 0;  // rows, those not chosen too
};

}  // namespace

result<std::uint64_t> digest_of(const data_options& options) {
  auto found = row_formats::global().find(options.format);
  if (!found) return found.failure();
  // Within these, 32-bit offsets suffice inside a block.
  constexpr auto most = std::uint64_t{1} << 30;
  if (options.blocks.rows == 0 || options.blocks.bytes == 0 || options.blocks.bytes > most)
    return error{errc::bad_config, "a block must hold at least one row and at most 1 GiB"};
  if (options.max_line_bytes == 0 || options.max_line_bytes > most)
    return error{errc::bad_config, "the longest line allowed must be from 1 byte to 1 GiB"};
  byte_writer all;
  all.put_text(options.format);
  all.put(found->version);
  encode(options.reading, all);
  encode(options.shape, all);
  encode(options.rows, all);
  all.put(options.max_names);
  all.put(options.blocks.rows);
  all.put(options.blocks.bytes);
  return xxh3(all.bytes());
}

result<source_facts> examine_source(file_system& files, const std::string& path, meter* work_done) {
  auto source = raw_source::open(files, path, work_done);
  if (!source) return source.failure();
  for (;;) {
    auto bytes = (*source)->peek();
    if (!bytes) return bytes.failure();
    if (bytes->empty()) return source_facts{(*source)->offset(), (*source)->digest()};
    (*source)->consume(bytes->size());
  }
}

result<void> build_cache(file_system& files, const std::vector<std::string>& sources,
                         const data_options& options, const std::string& path, meter* work_done,
                         std::shared_ptr<name_list> names) {
  auto digest = digest_of(options);
  if (!digest) return digest.failure();
  auto reading = options.reading;
  reading.names = std::move(names);
  auto pipeline = row_pipeline::make(options.format, reading, options.shape);
  if (!pipeline) return pipeline.failure();
  auto writer = cache_writer::create(files, path, work_done);
  if (!writer) return writer.failure();
  cache_build build(files, options, *std::move(pipeline), *std::move(writer), work_done);
  for (const auto& source : sources) {
    auto added = build.add_file(source);
    if (!added) return added;
  }
  return build.finish(*digest);
}

}  // namespace troupe
