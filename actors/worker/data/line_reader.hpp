#pragma once
// Cuts a stream into lines that end in \n or \r\n; the last one may lack its end. A UTF-8 byte
// order mark at the start is no part of the first line. Memory is bounded by the longest line
// allowed; a longer one is an error.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worker/data/input_stream.hpp"

namespace troupe {

class line_reader {
 public:
  // `name` is what errors call the stream, which must outlive the reader.
  line_reader(std::string name, input_stream& input, std::uint64_t max_line_bytes);

  // The next line, valid until the next call; false at the end.
  result<bool> next(std::string_view& line);
  std::uint64_t number() const { return number_; }  // of the line last returned, from 1

 private:
  result<bool> fill();
  error too_long() const;
  std::string_view trimmed(const char* from, std::size_t size) const;

  std::string name_;
  input_stream& input_;
  std::uint64_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace troupe
