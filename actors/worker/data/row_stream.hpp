#pragma once
// The rows of text files, one after the other: unpacked, cut into lines, read and shaped.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "actors/worker/data/input_stream.hpp"
#include "actors/worker/data/line_reader.hpp"
#include "actors/worker/data/row_reader.hpp"
#include "actors/worker/data/row_shaping.hpp"
#include "core/meter.hpp"
#include "core/result.hpp"

namespace troupe {

// A format's reader with the shaping behind it: from a line to the example that a model sees.
class row_pipeline {
 public:
  static result<row_pipeline> make(const std::string& format, const format_options& options,
                                   const row_shape& shape);
  void begin_file();
  // As row_reader::read().
  row_outcome read(std::string_view line, example& into, row_fault& fault);

 private:
  row_pipeline(std::unique_ptr<row_reader> reader, row_shaper shaper, bool shapes)
      : reader_(std::move(reader)), shaper_(std::move(shaper)), shapes_(shapes) {}
  std::unique_ptr<row_reader> reader_;
  row_shaper shaper_;
  bool shapes_;
  bool resolved_ = false;
};

// One file. "-" is standard input, which can be read once.
class row_stream {
 public:
  // `pipeline` outlives the stream.
  static result<std::unique_ptr<row_stream>> open(file_system& files, const std::string& path,
                                                  row_pipeline& pipeline,
                                                  std::uint64_t max_line_bytes, meter* work_done);

  enum class step { row, fault, end };
  // A fault's text is "file:line:column: reason". Errors are of the file: it cannot be read or
  // unpacked, a line is too long, or its header makes no sense.
  result<step> next(example& row);
  const std::string& fault() const { return fault_; }
  std::string_view line() const { return line_; }  // of the row; valid until the next call
  std::uint64_t line_number() const { return lines_.number(); }
  // Of what was read of the file as it lies on disk.
  const raw_source& source() const { return *source_; }

 private:
  row_stream(std::string path, row_pipeline& pipeline, std::unique_ptr<raw_source> source,
             std::unique_ptr<input_stream> input, std::uint64_t max_line_bytes);

  const std::string path_;
  row_pipeline& pipeline_;
  std::unique_ptr<raw_source> source_;
  std::unique_ptr<input_stream> input_;
  line_reader lines_;
  std::string_view line_;
  std::string fault_;
};

}  // namespace troupe
