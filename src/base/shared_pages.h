#pragma once
// Address space in 2 MiB pages, shared by blocks of different sizes. The sizes are multiples of 4 KiB.
//
//     |<- 2 MiB ------------>|<- 2 MiB ------------>|
//     | block 0 | block 1    . block 1  | free      . free ...
//
// Freed space keeps its pages, so that the next block can use them. After several trims without a new block, 2 MiB
// pages that no block overlaps are returned to the system.
// Thread: as for the owning pool.

#include "base/fixed_bit_set.h"
#include "shoal/base/detail/page_memory.h"

namespace shoal {

struct PagePool::SharedRange {
    static constexpr std::size_t kBytes = 2 * kMaxSharedBytes;
    static constexpr std::size_t kPages = kBytes / kPageBytes;
    static constexpr std::size_t kPagesPerFrame = kLargePageBytes / kPageBytes;

    PageRange range;
    FixedBitSet<kPages> used;     // pages that blocks occupy
    FixedBitSet<kPages> written;  // pages that a block has covered since they were last discarded
    FixedBitSet<64> committed;    // 2 MiB frames with a written page
    std::uint32_t num_trims = 0;  // trims since the last block was allocated
    static_assert(kPages / kPagesPerFrame <= 64);

    bool is_empty() const { return used.find(0, true) == kPages; }
    bool contains(const std::byte* block) const { return block >= range.data && block < range.data + kBytes; }

    /// Returns a block that starts `stagger` bytes into a page, or nullptr if there is no room.
    std::byte* allocate(std::size_t stagger, std::size_t num_bytes, bool* is_zero) {
        const std::size_t num_pages = round_up(stagger + num_bytes, kPageBytes) / kPageBytes;
        const std::size_t page = used.find_clear_run(num_pages);
        if (page == kPages) return nullptr;
        *is_zero = written.find(page, true) >= page + num_pages;
        used.set(page, page + num_pages, true);
        written.set(page, page + num_pages, true);
        committed.set(page / kPagesPerFrame, (page + num_pages - 1) / kPagesPerFrame + 1, true);
        num_trims = 0;
        return range.data + page * kPageBytes + stagger;
    }

    void free(std::byte* block, std::size_t num_bytes) {
        const auto offset = static_cast<std::size_t>(block - range.data);
        const std::size_t begin = offset / kPageBytes;
        const std::size_t end = round_up(offset + num_bytes, kPageBytes) / kPageBytes;
        SHOAL_ASSERT(begin < end && end <= kPages && used.get(begin) && used.get(end - 1),
                     "the block is not held by a table; it may have been freed twice");
        used.set(begin, end, false);
    }

    /// Increments the number of trims. If no block was allocated during the last `patience` trims, discards the frames
    /// that no block overlaps, and returns true.
    bool trim(std::uint32_t patience) {
        if (++num_trims < patience) return false;
        for (std::size_t frame = 0; frame < kPages / kPagesPerFrame; ++frame) {
            const std::size_t first = frame * kPagesPerFrame;
            if (!committed.get(frame) || used.find(first, true) < first + kPagesPerFrame) continue;
            discard_pages(range.data + first * kPageBytes, kLargePageBytes);
            written.set(first, first + kPagesPerFrame, false);
            committed.set(frame, frame + 1, false);
        }
        return true;
    }
};

}  // namespace shoal
