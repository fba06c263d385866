#include "actors/worker/data/line_reader.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

line_reader::line_reader(std::string name, input_stream& input, std::uint64_t max_line_bytes)
    : name_(std::move(name)),
      input_(input),
      max_line_bytes_(std::max<std::uint64_t>(max_line_bytes, 1)),
      buffer_(std::size_t{256} << 10) {}

result<bool> line_reader::next(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const std::size_t held = end_ - begin_;
    const void* found =
        held > searched ? std::memchr(from + searched, '\n', held - searched) : nullptr;
    if (found) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      ++number_;
      line = trimmed(from, size);
      begin_ += size + 1;
      if (size > max_line_bytes_) return too_long();
      return true;
    }
    searched = held;
    if (held > max_line_bytes_) {
      ++number_;
      return too_long();
    }
    auto more = fill();
    if (!more) return more;
    if (*more) continue;
    if (held == 0) return false;
    ++number_;
    line = trimmed(buffer_.data() + begin_, held);
    begin_ = end_;
    return true;
  }
}

// Makes room behind what is held, and reads into it.
result<bool> line_reader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const span<char> room(buffer_.data() + end_, buffer_.size() - end_);
  auto got = input_.read({reinterpret_cast<std::byte*>(room.data()), room.size()});
  if (!got) return got.failure();
  end_ += *got;
  return *got > 0;
}

error line_reader::too_long() const {
  return {errc::bad_data, name_ + ":" + std::to_string(number_) +
                              ":1: the line is longer than the " + std::to_string(max_line_bytes_) +
                              " bytes allowed"};
}

std::string_view line_reader::trimmed(const char* from, std::size_t size) const {
  std::string_view line(from, size);
  static constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (number_ == 1 && line.substr(0, 3) == byte_order_mark) line.remove_prefix(3);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace troupe
