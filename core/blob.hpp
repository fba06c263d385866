#pragma once
// Immutable, reference-counted bytes: what a data message carries. Copying a blob copies a pointer,
// so a value block crosses actors of one process without a copy; beyond the process a blob aliases
// the received frame.
//
// A blob's start is aligned to 8 bytes (`alignment`), so it can be read as keys (u64), f32 or f64
// in place.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/span.hpp"

namespace troupe {

class blob {
 public:
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t max_size = std::size_t{1} << 30;

  blob() = default;
  // Shares `owner`; `data` must live as long as it and be aligned.
  blob(std::shared_ptr<const void> owner, const void* data, std::size_t size)
      : data_(std::move(owner), static_cast<const std::byte*>(data)), size_(size) {}

  template <class T>
  static blob copy_of(span<const T> items) {
    auto [bytes, writable] = uninitialised(items.size() * sizeof(T));
    if (!items.empty()) std::memcpy(writable, items.data(), bytes.size());
    return bytes;
  }

  // A blob of `size` bytes and the pointer through which its maker fills it, before anybody else
  // sees it.
  static std::pair<blob, std::byte*> uninitialised(std::size_t size) {
    if (size == 0) return {blob{}, nullptr};
    std::shared_ptr<std::byte[]> storage(new std::byte[size]);
    std::byte* writable = storage.get();
    blob made;
    made.data_ = std::shared_ptr<const std::byte>(std::move(storage), writable);
    made.size_ = size;
    return {std::move(made), writable};
  }

  // A part of it, which shares its bytes. `at` and what is beyond must keep to the alignment.
  blob part(std::size_t at, std::size_t size) const {
    assert(at + size <= size_);
    blob made;
    if (size == 0) return made;
    made.data_ = std::shared_ptr<const std::byte>(data_, data_.get() + at);
    made.size_ = size;
    return made;
  }

  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The bytes as elements; a size that is no multiple of sizeof(T) is the caller's error (check
  // divides<T>() first). Not of a temporary, whose bytes would be gone.
  template <class T>
  span<const T> as() const& {
    return {reinterpret_cast<const T*>(data_.get()), size_ / sizeof(T)};
  }
  template <class T>
  span<const T> as() const&& = delete;
  template <class T>
  bool divides() const {
    return size_ % sizeof(T) == 0;
  }

  friend bool operator==(const blob& a, const blob& b) {
    return a.size_ == b.size_ && (a.size_ == 0 || std::memcmp(a.data(), b.data(), a.size_) == 0);
  }

 private:
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

}  // namespace troupe
