#include "actors/worker/data/input_stream.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "actors/worker/data/unpacking.hpp"

namespace troupe {
namespace {

class plain_stream final : public input_stream {
 public:
  explicit plain_stream(raw_source& source) : source_(source) {}

  result<std::size_t> read(span<std::byte> buffer) override {
    auto bytes = source_.peek();
    if (!bytes) return bytes.failure();
    const auto count = std::min(bytes->size(), buffer.size());
    if (count > 0) std::memcpy(buffer.data(), bytes->data(), count);
    source_.consume(count);
    return count;
  }

 private:
  raw_source& source_;
};

bool starts_with(span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// Packings that are recognised only to be refused by name.
const char* unsupported_packing(span<const std::byte> head) {
  static constexpr std::pair<std::string_view, const char*> packings[] = {
      {"BZh", "bzip2"}, {"\x28\xB5\x2F\xFD", "zstd"}, {"PK\x03\x04", "zip"}, {"7z\xBC\xAF", "7z"}};
  for (const auto& [magic, name] : packings)
    if (starts_with(head, magic)) return name;
  return nullptr;
}

}  // namespace

raw_source::raw_source(std::string path, std::unique_ptr<readable_file> file, meter* work_done)
    : path_(std::move(path)),
      file_(std::move(file)),
      meter_(work_done),
      buffer_(new std::byte[window]) {}

result<std::unique_ptr<raw_source>> raw_source::open(file_system& files, const std::string& path,
                                                     meter* work_done) {
  if (path == "-")
    return std::unique_ptr<raw_source>(new raw_source("<stdin>", standard_input(), work_done));
  auto file = files.open(path);
  if (!file) return file.failure();
  return std::unique_ptr<raw_source>(new raw_source(path, *std::move(file), work_done));
}

result<span<const std::byte>> raw_source::peek(std::size_t wanted) {
  while (end_ - begin_ < wanted) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    auto got = file_->read_at(offset_ + end_, {buffer_.get() + end_, window - end_});
    if (!got) return got.failure();
    if (*got == 0) break;
    if (meter_) meter_->add(work::bytes_read, *got);
    end_ += *got;
  }
  return span<const std::byte>(buffer_.get() + begin_, end_ - begin_);
}

void raw_source::consume(std::size_t count) {
  assert(count <= end_ - begin_);
  hash_.add(buffer_.get() + begin_, count);
  begin_ += count;
  offset_ += count;
}

result<std::unique_ptr<input_stream>> open_input(raw_source& source) {
  auto head = source.peek(8);
  if (!head) return head.failure();
  if (starts_with(*head, "\x1F\x8B")) return gzip_stream(source);
  if (starts_with(*head, std::string_view("\xFD"
                                          "7zXZ\0",
                                          6)))
    return xz_stream(source);
  if (const char* packing = unsupported_packing(*head))
    return error{errc::bad_data, source.path() + " is packed with " + packing +
                                     ", which is not read; pack it with gzip or xz"};
  return std::unique_ptr<input_stream>(std::make_unique<plain_stream>(source));
}

}  // namespace troupe
