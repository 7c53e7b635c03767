#include "job/open_loops.h"
#include "shoal/base/memory.h"
#include "shoal/job/executor.h"

#include <algorithm>
#include <cstddef>
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

namespace shoal {
namespace {

constexpr const char* kOwner = "executor";
constexpr int kSpinsToStay = 2000;  // some tens of microseconds: from one loop of a frame to the next

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
/// the slot is the worker. A thread that was called stays for a while after its last loop, since to call one takes
/// microseconds. Waiting is done here and not by tbb::task_group, which would run chunks of any loop on top of the one
/// that waits, under the same worker.
struct ThreadedExecutor::Threads {
    explicit Threads(std::uint32_t num)
        : num_workers(num), allowance(allow_threads(num)), arena(int(num), 1), loops(num, kOwner) {}

    ~Threads() {
        stopping.store(true, std::memory_order_relaxed);
        // Those who were called late find nothing left to do, but they come.
        while (num_inside.load(std::memory_order_acquire) != 0) std::this_thread::yield();
        SHOAL_ASSERT(loops.none_in_use(), "an executor was destroyed before its loops were waited for");
    }

    /// Calls threads so that `num_wanted` have nothing else to do, if there are as many.
    void call(std::uint32_t num_wanted) {
        while (num_idle.load(std::memory_order_seq_cst) < num_wanted) {
            if (!enter()) return;
            num_inside.fetch_add(1, std::memory_order_release);
            const UnseenByThreadSanitizer unseen;
            arena.enqueue([this] { stay(); });
        }
    }

    /// Counts a thread as called, unless all are.
    bool enter() {
        std::uint32_t called = num_called.load(std::memory_order_seq_cst);
        while (called < num_workers - 1)
            if (num_called.compare_exchange_weak(called, called + 1, std::memory_order_seq_cst)) {
                num_idle.fetch_add(1, std::memory_order_seq_cst);
                return true;
            }
        return false;
    }

    void stay() {
        static_cast<void>(num_inside.load(std::memory_order_acquire));  // orders this after call() for who watches
        const WorkerPlace before = t_place;
        t_place = {this, static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index())};
        do {
            for (int i = 0; i < kSpinsToStay && !stopping.load(std::memory_order_relaxed); ++i) {
                if (help()) i = 0;
                pause_briefly();
            }
            num_idle.fetch_sub(1, std::memory_order_seq_cst);
            num_called.fetch_sub(1, std::memory_order_seq_cst);
            // Who opened a loop before that did not call; who opens one after it does.
        } while (loops.any_open() && enter());
        t_place = before;
        num_inside.fetch_sub(1, std::memory_order_release);  // the last that it does here: the executor may go
    }

    /// Takes part in a loop that is open. Returns false when there is none.
    bool help() {
        OpenLoops::Loop* const loop = loops.join();
        if (loop == nullptr) return false;
        num_idle.fetch_sub(1, std::memory_order_seq_cst);
        loop->chunks->run(t_place.worker);
        num_idle.fetch_add(1, std::memory_order_seq_cst);
        loops.leave(*loop);
        return true;
    }

    std::uint32_t num_workers;
    std::optional<tbb::global_control> allowance;
    tbb::task_arena arena;
    OpenLoops loops;
    std::atomic<bool> stopping{false};
    std::atomic<std::uint32_t> num_inside{0};  // threads that were called and have not left
    std::atomic<std::uint32_t> num_called{0};  // those of them that stay
    std::atomic<std::uint32_t> num_idle{0};    // those of these that have nothing to do
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
    OpenLoops::Loop* const loop = threads_->loops.open(num_chunks, function, context, nullptr);
    if (loop != nullptr) {
        fence.set_loop(loop);
        return threads_->call(std::min(num_chunks, threads_->num_workers - 1));
    }
    const std::uint32_t worker = current_worker();
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, worker);
    fence.set_loop(this);
}

void ThreadedExecutor::wait(Fence& fence) {
    void* const started = fence.loop();
    fence.set_loop(nullptr);
    if (started == nullptr || started == this) return;
    auto& loop = *static_cast<OpenLoops::Loop*>(started);
    loop.chunks->run(current_worker());
    threads_->loops.close(loop);
    loop.chunks->wait_until_finished();
    threads_->loops.finish(loop);
}

}  // namespace shoal
