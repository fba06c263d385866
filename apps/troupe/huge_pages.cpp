#include "apps/troupe/huge_pages.hpp"

#include <gperftools/malloc_extension.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace troupe {
namespace {

constexpr std::size_t huge = std::size_t{2} << 20;
constexpr std::size_t at_least = std::size_t{64} << 20;

class huge_page_allocator final : public SysAllocator {
 public:
  void* Alloc(std::size_t size, std::size_t* actual, std::size_t alignment) override {
    const auto aligned = std::max(alignment, huge);
    const auto wanted = (std::max(size, at_least) + huge - 1) / huge * huge;
    void* got =
        mmap(nullptr, wanted + aligned, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return nullptr;
    const auto begin = (reinterpret_cast<std::uintptr_t>(got) + aligned - 1) / aligned * aligned;
    madvise(reinterpret_cast<void*>(begin), wanted, MADV_HUGEPAGE);
    if (actual != nullptr) *actual = wanted;
    return reinterpret_cast<void*>(begin);
  }
};

}  // namespace

void ask_for_huge_pages() {
  // Lives as long as the process: memory is freed after main() too.
  alignas(huge_page_allocator) static char place[sizeof(huge_page_allocator)];
  static auto* allocator = new (place) huge_page_allocator;
  MallocExtension::instance()->SetSystemAllocator(allocator);
}

}  // namespace troupe
