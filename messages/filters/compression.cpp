// Lossless compression of keys and values, each by itself. Rows are laid out by byte first (all
// first bytes, all second bytes, ...), which puts signs and exponents, that resemble each other,
// side by side; long rows number by number. Where it saves less than a tenth the filter passes over
// the next messages, twice as many each time, up to 64.

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "messages/filters/registry.hpp"

namespace troupe {
namespace {

class codec {
 public:
  virtual ~codec() = default;
  virtual std::size_t room(std::size_t size) const = 0;
  // 0: it cannot, or there is no room.
  virtual std::size_t compress(span<const std::byte> from, std::byte* to, std::size_t room) = 0;
  virtual bool decompress(span<const std::byte> from, std::byte* to, std::size_t size) = 0;
};

class zstd_codec final : public codec {
 public:
  explicit zstd_codec(int level) : level_(level), in_(ZSTD_createCCtx()), out_(ZSTD_createDCtx()) {}
  ~zstd_codec() override {
    ZSTD_freeCCtx(in_);
    ZSTD_freeDCtx(out_);
  }
  std::size_t room(std::size_t size) const override { return ZSTD_compressBound(size); }
  std::size_t compress(span<const std::byte> from, std::byte* to, std::size_t room) override {
    const auto size = ZSTD_compressCCtx(in_, to, room, from.data(), from.size(), level_);
    return ZSTD_isError(size) ? 0 : size;
  }
  bool decompress(span<const std::byte> from, std::byte* to, std::size_t size) override {
    return ZSTD_decompressDCtx(out_, to, size, from.data(), from.size()) == size;
  }

 private:
  const int level_;
  ZSTD_CCtx* const in_;
  ZSTD_DCtx* const out_;
};

class lz4_codec final : public codec {
 public:
  std::size_t room(std::size_t size) const override {
    return static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(size)));
  }
  std::size_t compress(span<const std::byte> from, std::byte* to, std::size_t room) override {
    const int size = LZ4_compress_default(reinterpret_cast<const char*>(from.data()),
                                          reinterpret_cast<char*>(to),
                                          static_cast<int>(from.size()), static_cast<int>(room));
    return static_cast<std::size_t>(std::max(0, size));
  }
  bool decompress(span<const std::byte> from, std::byte* to, std::size_t size) override {
    const int got =
        LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to),
                            static_cast<int>(from.size()), static_cast<int>(size));
    return got >= 0 && static_cast<std::size_t>(got) == size;
  }
};

void by_byte(const std::byte* from, std::size_t count, std::size_t width, std::byte* to) {
  for (std::size_t b = 0; b < width; ++b)
    for (std::size_t i = 0; i < count; ++i) *to++ = from[i * width + b];
}

void by_number(const std::byte* from, std::size_t count, std::size_t width, std::byte* to) {
  for (std::size_t b = 0; b < width; ++b)
    for (std::size_t i = 0; i < count; ++i) to[i * width + b] = *from++;
}

class compression final : public transmission_filter {
 public:
  compression(std::unique_ptr<codec> with, std::size_t width, std::size_t least)
      : codec_(std::move(with)), width_(width), least_(least) {}

  bool encode(payload& message, std::string& notes) override {
    if (passed_over_ < pass_over_) {
      ++passed_over_;
      return false;
    }
    const auto before = message.keys.size() + message.values.size();
    if (before < least_) return false;
    byte_writer note;
    auto keys = squeezed(message.keys, sizeof(position), note);
    auto values = squeezed(message.values, width_, note);
    const auto after = keys.size() + values.size();
    if (after * 10 > before * 9) {
      pass_over_ = std::min<std::uint32_t>(64, std::max<std::uint32_t>(1, 2 * pass_over_));
      passed_over_ = 0;
      return false;
    }
    pass_over_ = passed_over_ = 0;
    message.keys = std::move(keys);
    message.values = std::move(values);
    notes.assign(reinterpret_cast<const char*>(note.bytes().data()), note.size());
    return true;
  }

  undone decode(payload& message, const std::string& notes) override {
    byte_reader note({reinterpret_cast<const std::byte*>(notes.data()), notes.size()});
    auto keys = expanded(message.keys, note), values = expanded(message.values, note);
    if (!keys || !values || !note.finished()) return undone::damaged;
    message.keys = std::move(*keys);
    message.values = std::move(*values);
    return undone::done;
  }

 private:
  // Notes: the size it had (0: it is as it was), and the width by which its bytes were laid out.
  blob squeezed(const blob& from, std::size_t width, byte_writer& note) {
    if (from.size() % width != 0) width = 1;  // packed by another filter
    std::size_t size = 0;
    if (from.size() >= least_ / 2) {
      laid_out_.resize(from.size());
      by_byte(from.data(), from.size() / width, width, laid_out_.data());
      packed_.resize(codec_->room(from.size()));
      size = codec_->compress(laid_out_, packed_.data(), packed_.size());
    }
    const bool pays = size > 0 && size < from.size();
    note.put(static_cast<std::uint32_t>(pays ? from.size() : 0));
    note.put(static_cast<std::uint8_t>(width));
    return pays ? blob::copy_of(span<const std::byte>(packed_.data(), size)) : from;
  }

  std::optional<blob> expanded(const blob& from, byte_reader& note) {
    const auto size = note.get<std::uint32_t>();
    const auto width = note.get<std::uint8_t>();
    if (!note.ok()) return std::nullopt;
    if (size == 0) return from;
    // Neither library makes more than some hundred thousand bytes of one.
    if (size > blob::max_size || width == 0 || size % width != 0 || size / 262144 > from.size())
      return std::nullopt;
    laid_out_.resize(size);
    if (!codec_->decompress({from.data(), from.size()}, laid_out_.data(), size))
      return std::nullopt;
    auto [bytes, out] = blob::uninitialised(size);
    by_number(laid_out_.data(), size / width, width, out);
    return bytes;
  }

  const std::unique_ptr<codec> codec_;
  const std::size_t width_, least_;
  std::uint32_t pass_over_ = 0, passed_over_ = 0;
  std::vector<std::byte> laid_out_, packed_;
};

// Rows whose numbers mean different things: each has its bytes side by side.
std::size_t layout_of(const filter_place& place) {
  return place.row_bytes() <= 64 ? place.row_bytes() : place.number_bytes();
}

}  // namespace

filter_entry zstd_entry() {
  filter_entry entry;
  entry.name = "zstd";
  entry.hides_keys = true;
  entry.parameters = {{"level", 1, 1, 19}, {"least_bytes", 128, 0, 1e9}};
  entry.make_transmission = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<compression>(
        std::make_unique<zstd_codec>(static_cast<int>(n.at("level"))), layout_of(p),
        static_cast<std::size_t>(n.at("least_bytes")));
  };
  return entry;
}

filter_entry lz4_entry() {
  filter_entry entry;
  entry.name = "lz4";
  entry.hides_keys = true;
  entry.parameters = {{"least_bytes", 128, 0, 1e9}};
  entry.make_transmission = [](const filter_numbers& n, const filter_place& p) {
    return std::make_unique<compression>(std::make_unique<lz4_codec>(), layout_of(p),
                                         static_cast<std::size_t>(n.at("least_bytes")));
  };
  return entry;
}

}  // namespace troupe
