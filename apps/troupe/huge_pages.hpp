#pragma once
// Large pages for a large heap. A simulation walks a gigabyte of messages in no order; with pages
// of 4 KiB most of its reads miss the processor's page table cache.

namespace troupe {

// Asks tcmalloc to take its memory in pages of 2 MiB, where the system grants them on request
// (transparent huge pages, "madvise"). Before anything large is allocated.
void ask_for_huge_pages();

}  // namespace troupe
