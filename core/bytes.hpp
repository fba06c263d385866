#pragma once
// Little-endian byte coding for the files that Troupe writes: a growing buffer, and a reader that
// never reads past its end. Multi-byte numbers are little-endian on disk, as on every machine that
// we build for.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/span.hpp"

namespace troupe {

class byte_writer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    append(&value, sizeof value);
  }
  template <class T>
  void put_all(span<const T> items) {
    append(items.data(), items.size() * sizeof(T));
  }
  void put_text(std::string_view text) {  // u32 length, then the bytes
    put(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  // Seven bits to a byte, the low ones first; the high bit says that more come.
  void put_short(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) put(static_cast<std::uint8_t>(number | 0x80));
    put(static_cast<std::uint8_t>(number));
  }
  void append(const void* data, std::size_t size) {
    if (size == 0) return;
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

class byte_reader {
 public:
  explicit byte_reader(span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {  // zero past the end; check ok() once at the end
    T value{};
    if (take(sizeof value)) std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> get_all(std::uint64_t count) {
    std::vector<T> items;
    if (!ok_ || count > remaining() / sizeof(T)) {
      ok_ = false;
      return items;
    }
    items.resize(count);
    take(count * sizeof(T));
    if (count)
      std::memcpy(items.data(), bytes_.data() + at_ - count * sizeof(T), count * sizeof(T));
    return items;
  }
  std::uint64_t get_short() {
    std::uint64_t number = 0;
    for (int at = 0; at < 64; at += 7) {
      const auto byte = get<std::uint8_t>();
      number |= static_cast<std::uint64_t>(byte & 0x7f) << at;
      if (byte < 0x80) return number;
    }
    ok_ = false;
    return 0;
  }
  std::string get_text() {
    const auto size = get<std::uint32_t>();
    if (!take(size)) return {};
    return std::string(reinterpret_cast<const char*>(bytes_.data()) + at_ - size, size);
  }

  std::size_t remaining() const { return bytes_.size() - at_; }
  bool ok() const { return ok_; }                            // nothing was read past the end
  bool finished() const { return ok_ && remaining() == 0; }  // and nothing is left over

 private:
  bool take(std::uint64_t size) {
    if (!ok_ || size > remaining()) return ok_ = false;
    at_ += size;
    return true;
  }
  span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace troupe
