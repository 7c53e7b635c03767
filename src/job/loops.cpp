#include "job/loops.h"

#include "shoal/base/detail/memory.h"

#include <bit>
#include <cstddef>
#include <memory>
#include <new>

namespace shoal {
namespace {

constexpr const char* kLoopOwner = "executor";
constexpr int kSpins = 4000;  // a few microseconds, which is longer than the last chunk of a loop usually takes

constexpr std::uint64_t pack(std::uint32_t first, std::uint32_t end) { return std::uint64_t(end) << 32 | first; }

}  // namespace

ChunkLoop::ChunkLoop(std::uint32_t num_workers) : num_workers_(num_workers) {
    // Bookkeeping memory is aligned only for fundamental types; an extra share leaves room for alignment.
    std::size_t num_bytes = memory_bytes();
    memory_ = allocate_memory(num_bytes, kLoopOwner);
    void* first = memory_;
    std::align(alignof(Share), num_workers * sizeof(Share), first, num_bytes);
    shares_ = ::new (first) Share[num_workers]{};
}

ChunkLoop::~ChunkLoop() { release_memory(memory_, memory_bytes(), kLoopOwner); }

void ChunkLoop::start(std::uint32_t num_chunks, ChunkFunction function, void* context, std::uint32_t users) {
    function_ = function;
    context_ = context;
    num_unfinished_.store(num_chunks, std::memory_order_relaxed);
    const auto bound = [&](std::uint64_t worker) {
        return static_cast<std::uint32_t>(worker * num_chunks / num_workers_);
    };
    for (std::uint32_t worker = 0; worker < num_workers_; ++worker)
        shares_[worker].chunks.store(pack(bound(worker), bound(worker + 1)), std::memory_order_relaxed);
    num_users_.store(users, std::memory_order_release);
}

void ChunkLoop::run(std::uint32_t worker) {
    std::uint32_t num_done = 0;
    for (Taken taken = take(worker); taken.any; taken = take(worker)) {
        function_(context_, taken.chunk, worker);
        ++num_done;
    }
    if (num_done != 0 && num_unfinished_.fetch_sub(num_done, std::memory_order_acq_rel) == num_done)
        num_unfinished_.notify_all();
}

void ChunkLoop::wait_until_finished() const {
    for (int spin = 0; spin < kSpins; ++spin) {
        if (num_unfinished_.load(std::memory_order_acquire) == 0) return;
        pause_briefly();
    }
    while (const std::uint32_t unfinished = num_unfinished_.load(std::memory_order_acquire))
        num_unfinished_.wait(unfinished, std::memory_order_acquire);
}

ChunkLoop::Taken ChunkLoop::take(Share& share, bool from_back) {
    std::uint64_t chunks = share.chunks.load(std::memory_order_relaxed);
    for (;;) {
        const auto first = static_cast<std::uint32_t>(chunks);
        const auto end = static_cast<std::uint32_t>(chunks >> 32);
        if (first == end) return {false, 0};
        const std::uint64_t rest = from_back ? pack(first, end - 1) : pack(first + 1, end);
        if (share.chunks.compare_exchange_weak(chunks, rest, std::memory_order_relaxed))
            return {true, from_back ? end - 1 : first};
    }
}

ChunkLoop::Taken ChunkLoop::take(std::uint32_t worker) {
    Taken taken = take(shares_[worker], false);
    for (std::uint32_t i = 1; !taken.any && i < num_workers_; ++i)
        taken = take(shares_[(worker + i) % num_workers_], true);
    return taken;
}

// --- open loops --------------------------------------------------------------------------------------------------

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
        if (loop.chunks->has_users()) {  // a helper has not left yet
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
