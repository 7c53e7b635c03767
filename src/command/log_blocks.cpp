#include "command/log_blocks.h"

#include <algorithm>
#include <utility>

namespace shoal {

LogBlocks::~LogBlocks() {
    for (Free& free : free_)
        for (std::byte* block : free.blocks) release_memory(block, kLogBlockBytes[&free - free_], owner_);
}

detail::LogBlock LogBlocks::take(std::size_t num_bytes, bool large) {
    const bool size_index = large || num_bytes > kLogBlockBytes[0];
    if (Array<std::byte*>& blocks = free_[size_index].blocks;
        num_bytes <= kLogBlockBytes[size_index] && !blocks.empty()) {
        std::byte* const block = blocks.back();
        blocks.pop_back();
        return {block, kLogBlockBytes[size_index]};
    }
    const std::size_t size = std::max(num_bytes, kLogBlockBytes[size_index]);
    return {static_cast<std::byte*>(allocate_memory(size, owner_)), size};
}

void LogBlocks::give_back(const detail::LogBlock& block) {
    if (block.num_bytes != kLogBlockBytes[0] && block.num_bytes != kLogBlockBytes[1])
        return release_memory(block.data, block.num_bytes, owner_);
    Free& free = free_[block.num_bytes == kLogBlockBytes[1]];
    free.blocks.push_back(block.data);
    ++free.num_used;
}

void LogBlocks::trim() {
    for (Free& free : free_) {
        free.num_kept = decaying_peak(std::exchange(free.num_used, 0), free.num_kept);
        for (; free.blocks.size() > free.num_kept; free.blocks.pop_back())
            release_memory(free.blocks.back(), kLogBlockBytes[&free - free_], owner_);
    }
}

}  // namespace shoal
