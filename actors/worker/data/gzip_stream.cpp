#include <zlib.h>

#include <algorithm>
#include <limits>

#include "actors/worker/data/unpacking.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

class gzip_input final : public input_stream {
 public:
  explicit gzip_input(raw_source& source) : source_(source) {}
  ~gzip_input() override { inflateEnd(&z_); }
  gzip_input(const gzip_input&) = delete;
  gzip_input& operator=(const gzip_input&) = delete;

  bool start() { return inflateInit2(&z_, 16 + MAX_WBITS) == Z_OK; }  // 16: gzip framing only

  result<std::size_t> read(span<std::byte> buffer) override {
    std::size_t written = 0;
    while (written == 0 && !finished_) {
      auto packed = source_.peek();
      if (!packed) return packed.failure();
      if (between_members_) {
        auto more = enter_member(*packed);
        if (!more) return more.failure();
        continue;
      }
      if (packed->empty()) return fault("the file ends in the middle of its compressed data");
      auto count = inflate_some(*packed, buffer);
      if (!count) return count.failure();
      written = *count;
    }
    return written;
  }

 private:
  // After a member another may follow, or zero bytes that a tape's blocks leave behind, or the end.
  result<void> enter_member(span<const std::byte> packed) {
    if (packed.empty()) {
      finished_ = true;
    } else if (packed[0] == std::byte{0}) {
      padded_ = true;
      source_.consume(1);
    } else if (padded_ || packed[0] != std::byte{0x1F}) {
      return fault("what follows the compressed data is not compressed data");
    } else {
      inflateReset(&z_);
      between_members_ = false;
    }
    return {};
  }

  result<std::size_t> inflate_some(span<const std::byte> packed, span<std::byte> buffer) {
    const auto room = std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max());
    z_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    z_.avail_in = static_cast<uInt>(packed.size());
    z_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z_.avail_out = static_cast<uInt>(room);
    const int code = inflate(&z_, Z_NO_FLUSH);
    source_.consume(packed.size() - z_.avail_in);
    if (code == Z_STREAM_END) {
      between_members_ = true;
    } else if (code != Z_OK) {
      return fault(z_.msg ? z_.msg : "the compressed data is damaged");
    }
    return room - z_.avail_out;
  }

  error fault(const char* reason) const {
    return {errc::bad_data, format("%s: at byte %llu of the gzip file: %s", source_.path().c_str(),
                                   static_cast<unsigned long long>(source_.offset()), reason)};
  }

  raw_source& source_;
  z_stream z_{};
  bool between_members_ = false;
  bool padded_ = false;
  bool finished_ = false;
};

}  // namespace

result<std::unique_ptr<input_stream>> gzip_stream(raw_source& source) {
  auto stream = std::make_unique<gzip_input>(source);
  if (!stream->start()) return error{errc::internal, "zlib does not start"};
  return std::unique_ptr<input_stream>(std::move(stream));
}

}  // namespace troupe
