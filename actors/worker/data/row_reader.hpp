#pragma once
// What a data format is: a reader that turns one line into one example, registered by name.
// "libsvm" comes with Troupe; a program adds its own before it opens data:
//
//   row_formats::global().add("csv", {1, [](const format_options& options) { return
//   make_csv_reader(options); }});

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worker/data/example.hpp"
#include "core/result.hpp"

namespace troupe {

struct row_fault {
  std::size_t column = 1;  // in bytes, from 1
  std::string reason;
};

enum class row_outcome {
  row,      // the example is filled
  nothing,  // a blank line, a comment, a header
  fault,    // the fault is filled
};

class row_reader {
 public:
  virtual ~row_reader() = default;
  // The next lines come from another file: its header, if the format has one, comes first.
  virtual void begin_file() {}
  // `into` arrives cleared; its storage is reused from line to line. Must depend on nothing but the
  // lines of the file.
  virtual row_outcome read(std::string_view line, example& into, row_fault& fault) = 0;
};

// All of it is part of a cache's identity.
struct format_options {
  std::uint64_t index_base = 1;                 // 0 or 1: an index minus this is the key
  std::map<std::string, std::string> settings;  // what a format of somebody else's needs
};

struct row_format {
  std::uint32_t version =
      1;  // raised when the reader changes its mind about a line: caches are then rebuilt
  std::function<result<std::unique_ptr<row_reader>>(const format_options&)> make;
};

// Thread-safe.
class row_formats {
 public:
  static row_formats& global();  // has "libsvm"

  void add(const std::string& name, row_format format);    // replaces one of that name
  result<row_format> find(const std::string& name) const;  // an error names the nearest
  std::vector<std::string> names() const;                  // sorted

 private:
  mutable std::mutex mutex_;
  std::map<std::string, row_format> formats_;
};

}  // namespace troupe
