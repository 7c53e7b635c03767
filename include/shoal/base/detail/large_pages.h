#pragma once
// Large pages for arrays in bookkeeping memory that are filled once, such as the nodes of a document. With 4 KiB pages,
// compiling a level of 100,000 entities spends 40% of its time in page faults.
//
//     | 4 KiB pages | 2 MiB page | 2 MiB page | 4 KiB pages |      an array of the heap begins and ends anywhere
//
// Thread: any thread.

#include "shoal/base/detail/page_memory.h"

namespace shoal {

/// Advises the system to use 2 MiB pages where they fit into [begin, begin + num_bytes). Does nothing for less than 8
/// MiB. Cost: a system call.
SHOAL_API void prefer_large_pages_inside(void* begin, std::size_t num_bytes);

}  // namespace shoal
