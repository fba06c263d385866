#include "actors/server/table/growing_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace troupe {
namespace {

// Fewer, larger pages where the system has them: rows are visited all over. Only advice.
void prefer_large_pages(void* data, std::size_t bytes) {
  if (bytes >= std::size_t{1} << 23) (void)::madvise(data, bytes, MADV_HUGEPAGE);
}

void* mapped(std::size_t bytes) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return p;
}

}  // namespace

growing_memory::~growing_memory() {
  if (size_ >= least_mapped)
    ::munmap(data_, size_);
  else
    std::free(data_);
}

void growing_memory::resize(std::size_t bytes) {
  if (bytes == size_) return;
  const bool was_mapped = size_ >= least_mapped, is_mapped = bytes >= least_mapped;
  if (was_mapped && is_mapped) {
    void* p = ::mremap(data_, size_, bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) throw std::bad_alloc();
    data_ = p;
  } else if (!was_mapped && !is_mapped) {
    void* p = std::realloc(data_, std::max<std::size_t>(bytes, 1));
    if (!p) throw std::bad_alloc();
    data_ = p;
  } else {
    void* p = is_mapped ? mapped(bytes) : std::malloc(std::max<std::size_t>(bytes, 1));
    if (!p) throw std::bad_alloc();
    if (size_ > 0) std::memcpy(p, data_, std::min(size_, bytes));
    was_mapped ? static_cast<void>(::munmap(data_, size_)) : std::free(data_);
    data_ = p;
  }
  size_ = bytes;
  if (is_mapped) prefer_large_pages(data_, size_);
}

}  // namespace troupe
