#include "job/open_loops.h"

#include "shoal/base/memory.h"

#include <bit>
#include <cstddef>
#include <new>

namespace shoal {

OpenLoops::OpenLoops(std::uint32_t num_workers, const char* owner) : num_workers_(num_workers), owner_(owner) {
    memory_ = allocate_memory(memory_bytes(), owner_);
    auto* const first = static_cast<std::byte*>(memory_);
    loops_ = ::new (first) Loop[kMost];
    open_ = ::new (first + kMost * sizeof(Loop) + kCacheLineBytes) std::atomic<std::uint64_t>(0);
    for (std::uint32_t i = 0; i < kMost; ++i) loops_[i].index = i;
}

OpenLoops::~OpenLoops() {
    for (std::uint32_t i = 0; i < kMost; ++i) loops_[i].~Loop();
    release_memory(memory_, memory_bytes(), owner_);
}

OpenLoops::Loop* OpenLoops::open(std::uint32_t num_chunks, ChunkFunction function, void* context, void* task) {
    for (std::uint32_t i = 0; i < kMost; ++i) {
        Loop& loop = loops_[i];
        if (loop.claimed.load(std::memory_order_relaxed) || loop.claimed.exchange(true, std::memory_order_acquire))
            continue;
        if (!loop.chunks) loop.chunks.emplace(num_workers_);
        if (loop.chunks->has_users()) {  // one who helped has not left yet
            loop.claimed.store(false, std::memory_order_release);
            continue;
        }
        loop.task = task;
        loop.chunks->start(num_chunks, function, context, 1);
        open_->fetch_or(std::uint64_t(1) << i, std::memory_order_seq_cst);
        return &loop;
    }
    return nullptr;
}

void OpenLoops::finish(Loop& loop) {
    loop.chunks->drop_user();
    loop.claimed.store(false, std::memory_order_release);
}

OpenLoops::Loop* OpenLoops::join() {
    const std::uint64_t open = open_->load(std::memory_order_acquire);
    if (open == 0) return nullptr;
    Loop& loop = loops_[std::countr_zero(open)];
    return loop.chunks->try_join() ? &loop : nullptr;
}

void OpenLoops::leave(Loop& loop) {
    close(loop);
    loop.chunks->drop_user();
}

void OpenLoops::close(const Loop& loop) {
    const std::uint64_t bit = std::uint64_t(1) << loop.index;
    if (open_->load(std::memory_order_relaxed) & bit) open_->fetch_and(~bit, std::memory_order_relaxed);
}

bool OpenLoops::none_in_use() const {
    for (std::uint32_t i = 0; i < kMost; ++i)
        if (loops_[i].claimed.load(std::memory_order_acquire)) return false;
    return true;
}

}  // namespace shoal
