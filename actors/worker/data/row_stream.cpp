#include "actors/worker/data/row_stream.hpp"

namespace troupe {

result<row_pipeline> row_pipeline::make(const std::string& format, const format_options& options,
                                        const row_shape& shape) {
  const auto found = row_formats::global().find(format);
  if (!found) return found.failure();
  auto reader = found->make(options);
  if (!reader) return reader.failure();
  auto shaper = row_shaper::make(shape, options.hashing);
  if (!shaper) return shaper.failure();
  return row_pipeline(*std::move(reader), *std::move(shaper), !shape.empty());
}

void row_pipeline::begin_file() {
  reader_->begin_file();
  resolved_ = false;
}

row_outcome row_pipeline::read(std::string_view line, example& into, row_fault& fault) {
  const auto outcome = reader_->read(line, into, fault);
  if (outcome != row_outcome::row || !shapes_) return outcome;
  if (!resolved_ && !shaper_.resolve(*reader_, fault)) return row_outcome::fault;
  resolved_ = true;
  return shaper_.shape(into, fault) ? row_outcome::row : row_outcome::fault;
}

row_stream::row_stream(std::string path, row_pipeline& pipeline, std::unique_ptr<raw_source> source,
                       std::unique_ptr<input_stream> input, std::uint64_t max_line_bytes)
    : path_(std::move(path)),
      pipeline_(pipeline),
      source_(std::move(source)),
      input_(std::move(input)),
      lines_(path_, *input_, max_line_bytes) {}

result<std::unique_ptr<row_stream>> row_stream::open(file_system& files, const std::string& path,
                                                     row_pipeline& pipeline,
                                                     std::uint64_t max_line_bytes,
                                                     meter* work_done) {
  auto source = raw_source::open(files, path, work_done);
  if (!source) return source.failure();
  auto input = open_input(**source);
  if (!input) return input.failure();
  pipeline.begin_file();
  auto name = (*source)->path();  // before the source moves
  return std::unique_ptr<row_stream>(new row_stream(std::move(name), pipeline, *std::move(source),
                                                    *std::move(input), max_line_bytes));
}

result<row_stream::step> row_stream::next(example& row) {
  for (;;) {
    auto more = lines_.next(line_);
    if (!more) return more.failure();
    if (!*more) return step::end;
    row.clear();
    row_fault fault;
    const auto outcome = pipeline_.read(line_, row, fault);
    if (outcome == row_outcome::nothing) continue;
    if (outcome == row_outcome::row) return step::row;
    fault_ = path_ + ":" + std::to_string(lines_.number()) + ":" + std::to_string(fault.column) +
             ": " + fault.reason;
    if (fault.fatal) return error{errc::bad_data, fault_};
    return step::fault;
  }
}

}  // namespace troupe
