#pragma once
// Bytes that can grow without being held twice: large pieces are pages of their own, which the
// system moves by their addresses instead of copying them.

#include <cstddef>

namespace troupe {

class growing_memory {
 public:
  growing_memory() = default;
  ~growing_memory();
  growing_memory(const growing_memory&) = delete;
  growing_memory& operator=(const growing_memory&) = delete;

  // Keeps the first min(old, new) bytes; throws std::bad_alloc. New bytes have no particular value.
  void resize(std::size_t bytes);
  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t least_mapped = std::size_t{1} << 18;

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace troupe
