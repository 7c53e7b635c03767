#include "job/chunk_loop.h"
#include "shoal/base/memory.h"
#include "shoal/job/executor.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHOAL_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define SHOAL_THREAD_SANITIZER
#endif

#if defined(SHOAL_THREAD_SANITIZER)
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace shoal::inline SHOAL_ABI {
namespace {

constexpr const char* kOwner = "executor";

/// Which worker of which executor this thread is, while it runs chunks of one.
struct WorkerPlace {
    const void* executor = nullptr;
    std::uint32_t worker = 0;
};
thread_local WorkerPlace t_place;

/// Lets oneTBB have as many threads as were asked for, should that be more than the machine has.
std::optional<tbb::global_control> allow_threads(std::uint32_t num_workers) {
    constexpr auto kParallelism = tbb::global_control::max_allowed_parallelism;
    if (num_workers <= tbb::global_control::active_value(kParallelism)) return std::nullopt;
    return std::optional<tbb::global_control>(std::in_place, kParallelism, num_workers);
}

#if defined(SHOAL_THREAD_SANITIZER)
/// oneTBB is packaged without instrumentation: the sanitizer sees its headers reuse the memory of a task, and not what
/// orders that after the task. While this lives, the calling thread's writes go unseen; only enqueue() runs meanwhile.
struct UnseenByThreadSanitizer {
    UnseenByThreadSanitizer() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
    ~UnseenByThreadSanitizer() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
};
#else
struct UnseenByThreadSanitizer {
    UnseenByThreadSanitizer() {}
};
#endif

}  // namespace

/// oneTBB gives the threads, and an arena in which each has a slot: slot 0 is kept for threads from outside, so that
/// the slot is the worker. Waiting is done here and not by tbb::task_group, which would run chunks of any loop on top
/// of the one that waits, under the same worker.
struct ThreadedExecutor::Threads {
    explicit Threads(std::uint32_t num) : num_workers(num), allowance(allow_threads(num)), arena(int(num), 1) {}

    ~Threads() {
        // Those who were asked late find nothing left to do, but they come.
        while (num_helping.load(std::memory_order_acquire) != 0) std::this_thread::yield();
        SHOAL_ASSERT(free_loops.size() == loops.size(), "an executor was destroyed before its loops were waited for");
        for (ChunkLoop* loop : loops) {
            loop->~ChunkLoop();
            release_memory(loop, sizeof(ChunkLoop), kOwner);
        }
    }

    ChunkLoop& free_loop() {
        const std::lock_guard lock(mutex);
        if (free_loops.empty()) {
            loops.push_back(::new (allocate_memory(sizeof(ChunkLoop), kOwner)) ChunkLoop(num_workers));
            free_loops.reserve(loops.size());
            return *loops.back();
        }
        ChunkLoop& loop = *free_loops.back();
        free_loops.pop_back();
        return loop;
    }

    void drop(ChunkLoop& loop) {
        if (!loop.drop_user()) return;
        const std::lock_guard lock(mutex);
        free_loops.push_back(&loop);
    }

    void help(ChunkLoop& loop) {
        const WorkerPlace before = t_place;
        t_place = {this, static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index())};
        loop.join();
        loop.run(t_place.worker);
        t_place = before;
        drop(loop);
        num_helping.fetch_sub(1, std::memory_order_release);  // the last that it does here: the executor may go
    }

    std::uint32_t num_workers;
    std::optional<tbb::global_control> allowance;
    tbb::task_arena arena;
    std::atomic<std::uint32_t> num_helping{0};  // threads that were asked to help and have not finished
    std::mutex mutex;
    Array<ChunkLoop*> loops = Array<ChunkLoop*>(kOwner);
    Array<ChunkLoop*> free_loops = Array<ChunkLoop*>(kOwner);  // those of loops that nobody uses
};

ThreadedExecutor::ThreadedExecutor(std::uint32_t num_workers) {
    static_assert(alignof(Threads) <= alignof(std::max_align_t));
    if (num_workers == 0) num_workers = static_cast<std::uint32_t>(tbb::info::default_concurrency());
    threads_ = ::new (allocate_memory(sizeof(Threads), kOwner)) Threads(num_workers);
}

ThreadedExecutor::~ThreadedExecutor() {
    threads_->~Threads();
    release_memory(threads_, sizeof(Threads), kOwner);
}

std::uint32_t ThreadedExecutor::num_workers() const { return threads_->num_workers; }

std::uint32_t ThreadedExecutor::current_worker() const { return t_place.executor == threads_ ? t_place.worker : 0; }

void ThreadedExecutor::start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) {
    SHOAL_ASSERT(fence.loop() == nullptr, "a fence belongs to one loop at a time; wait for the one before");
    if (num_chunks == 0) return;
    const std::uint32_t num_helpers = std::min(num_chunks, threads_->num_workers - 1);
    ChunkLoop& loop = threads_->free_loop();
    loop.start(num_chunks, function, context, num_helpers + 1);
    fence.set_loop(&loop);
    threads_->num_helping.fetch_add(num_helpers, std::memory_order_relaxed);
    const UnseenByThreadSanitizer unseen;
    for (std::uint32_t i = 0; i < num_helpers; ++i)
        threads_->arena.enqueue([threads = threads_, &loop] { threads->help(loop); });
}

void ThreadedExecutor::wait(Fence& fence) {
    if (fence.loop() == nullptr) return;
    ChunkLoop& loop = *static_cast<ChunkLoop*>(fence.loop());
    loop.run(current_worker());
    loop.wait_until_finished();
    fence.set_loop(nullptr);
    threads_->drop(loop);
}

}  // namespace shoal::inline SHOAL_ABI
