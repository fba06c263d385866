#include <lzma.h>

#include "actors/worker/data/unpacking.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

// xz -9 needs 65 MiB; a hand-made file may ask for gigabytes.
constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20;

const char* reason_of(lzma_ret code) {
  switch (code) {
    case LZMA_BUF_ERROR:
      return "the file ends in the middle of its compressed data";
    case LZMA_MEMLIMIT_ERROR:
      return "it needs more than 512 MiB to be unpacked";
    case LZMA_FORMAT_ERROR:
      return "what follows the compressed data is not compressed data";
    case LZMA_OPTIONS_ERROR:
      return "it uses a filter that is not known here";
    case LZMA_MEM_ERROR:
      return "there is no memory to unpack it";
    default:
      return "the compressed data is damaged";
  }
}

class xz_input final : public input_stream {
 public:
  explicit xz_input(raw_source& source) : source_(source) {}
  ~xz_input() override { lzma_end(&z_); }
  xz_input(const xz_input&) = delete;
  xz_input& operator=(const xz_input&) = delete;

  bool start() { return lzma_stream_decoder(&z_, memory_limit, LZMA_CONCATENATED) == LZMA_OK; }

  result<std::size_t> read(span<std::byte> buffer) override {
    std::size_t written = 0;
    while (written == 0 && !finished_ && !buffer.empty()) {
      auto packed = source_.peek();
      if (!packed) return packed.failure();
      z_.next_in = reinterpret_cast<const std::uint8_t*>(packed->data());
      z_.avail_in = packed->size();
      z_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
      z_.avail_out = buffer.size();
      const auto code = lzma_code(&z_, packed->empty() ? LZMA_FINISH : LZMA_RUN);
      source_.consume(packed->size() - z_.avail_in);
      written = buffer.size() - z_.avail_out;
      if (code == LZMA_STREAM_END) {
        finished_ = true;
      } else if (code != LZMA_OK) {
        return fault(reason_of(code));
      }
    }
    return written;
  }

 private:
  error fault(const char* reason) const {
    return {errc::bad_data, format("%s: at byte %llu of the xz file: %s", source_.path().c_str(),
                                   static_cast<unsigned long long>(source_.offset()), reason)};
  }

  raw_source& source_;
  lzma_stream z_ = LZMA_STREAM_INIT;
  bool finished_ = false;
};

}  // namespace

result<std::unique_ptr<input_stream>> xz_stream(raw_source& source) {
  auto stream = std::make_unique<xz_input>(source);
  if (!stream->start()) return error{errc::internal, "liblzma does not start"};
  return std::unique_ptr<input_stream>(std::move(stream));
}

}  // namespace troupe
