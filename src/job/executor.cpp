#include "shoal/job/executor.h"

#include "job/loops.h"
#include "shoal/base/detail/memory.h"
#include "shoal/base/log.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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

Executor::~Executor() = default;

SerialExecutor::SerialExecutor() = default;
SerialExecutor::~SerialExecutor() = default;

std::uint32_t SerialExecutor::num_workers() const { return 1; }
std::uint32_t SerialExecutor::current_worker() const { return 0; }

void SerialExecutor::start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) {
    SHOAL_ASSERT(fence.loop() == nullptr, "a fence belongs to one loop at a time; wait for the one before");
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, 0);
    fence.set_loop(this);
}

void SerialExecutor::wait(Fence& fence) { fence.set_loop(nullptr); }

// --- the threaded executor ---------------------------------------------------------------------------------------

namespace {

constexpr const char* kOwner = "executor";
constexpr int kSpinsToStay = 2000;  // a few tens of microseconds, which is longer than the time between two loops

/// The executor that this thread currently works for, and the thread's worker number.
struct CurrentWorker {
    const void* executor = nullptr;
    std::uint32_t worker = 0;
};
thread_local CurrentWorker t_place;

#if defined(SHOAL_THREAD_SANITIZER)
/// oneTBB is packaged without instrumentation, so the sanitizer sees how its headers reuse the memory of a task, but
/// not how its library synchronizes. While this object exists, the sanitizer ignores the calling thread's writes; the
/// thread only calls enqueue().
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

/// oneTBB provides the threads, and an arena in which each thread has a slot. Slot 0 is reserved for outside threads,
/// so the slot is the worker number. After its last loop, a thread stays for a while, because it takes microseconds to
/// get a thread. Waiting is implemented here, because tbb::task_group would run chunks of any loop on top of the
/// waiting chunk, with the same worker number.
struct ThreadedExecutor::Threads {
    explicit Threads(std::uint32_t num) : num_workers(num), arena(int(num), 1), loops(num, kOwner), called(num - 1) {
        const std::lock_guard lock(list_mutex);
        number = ++last_number;
        next = std::exchange(first, this);
        if (num_workers > tbb::global_control::active_value(kParallelism)) take_allowance(find_allowance());
    }

    ~Threads() {
        SHOAL_ASSERT(loops.none_in_use(), "an executor was destroyed before its loops were waited for; call wait()");
        leave_list();
        stopping.store(true, std::memory_order_relaxed);
        // Threads in stay() leave immediately. Threads that arrive later do not find this executor.
        while (num_inside.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    }

    /// Requests threads until `num_wanted` threads are idle, or until all threads have been requested.
    void call(std::uint32_t num_wanted) {
        while (called.num_idle() < num_wanted) {
            if (!called.enter()) return;
            if (!ask_for_thread()) return called.cancel();
        }
    }

    /// Returns false if oneTBB cannot start threads. After that, oneTBB is not asked again.
    bool ask_for_thread() {
        const UnseenByThreadSanitizer unseen;
        return has_arena() && succeeds([&] { arena.enqueue([executor = number] { come(executor); }); });
    }

    /// On first use, makes the arena, which takes a few megabytes. The lock is needed because oneTBB lets only one of
    /// several threads initialize an arena and, if that fails, lets the others wait forever.
    bool has_arena() {
        if (!arena.is_active() && !lacks_threads.load(std::memory_order_relaxed)) {
            const std::lock_guard lock(arena_mutex);
            if (!arena.is_active() && !lacks_threads.load(std::memory_order_relaxed))
                succeeds([&] { arena.initialize(); });
        }
        return !lacks_threads.load(std::memory_order_relaxed);
    }

    /// Calls oneTBB, which throws std::bad_alloc or std::runtime_error if it cannot start threads.
    template <class Call>
    bool succeeds(Call&& call_threads) {
        try {
            call_threads();
            return true;
        } catch (const std::exception&) {
            if (!lacks_threads.exchange(true, std::memory_order_relaxed))
                log(LogLevel::kWarning,
                    "no further threads can be started, because memory is used up or threads are limited; loops run on "
                    "those that are there");
            return false;
        }
    }

    /// Runs on a requested thread. All threads of oneTBB may be busy for a long time, perhaps with the chunk that
    /// destroys the executor, so the executor does not wait for requested threads that have not arrived.
    static void come(std::uint64_t called_by) {
        Threads* executor;
        {
            const std::lock_guard lock(list_mutex);
            for (executor = first; executor != nullptr && executor->number != called_by;) executor = executor->next;
            if (executor == nullptr) return;
            executor->num_inside.fetch_add(1, std::memory_order_relaxed);
        }
        executor->stay();
    }

    void stay() {
        const CurrentWorker before = t_place;
        t_place = {this, static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index())};
        do {
            for (int i = 0; i < kSpinsToStay && !stopping.load(std::memory_order_relaxed); ++i) {
                if (help()) i = 0;
                pause_briefly();
            }
        } while (!called.leave(loops) && !stopping.load(std::memory_order_relaxed));
        t_place = before;
        num_inside.fetch_sub(1, std::memory_order_release);  // the last access: the executor may be destroyed now
    }

    /// Helps with an open loop. Returns false if there is no open loop.
    bool help() {
        OpenLoops::Loop* const loop = loops.join();
        if (loop == nullptr) return false;
        called.begin_help();
        loop->chunks->run(t_place.worker);
        called.end_help();
        loops.leave(*loop);
        return true;
    }

    void leave_list() {
        const std::lock_guard lock(list_mutex);
        Threads** link = &first;
        while (*link != this) link = &(*link)->next;
        *link = next;
        if (allowance) pass_allowance_on();
    }

    // oneTBB does not start more threads than the machine has hardware threads, unless a tbb::global_control allows it.
    // The lowest limit of all existing tbb::global_control objects applies, so only the executor with the most workers
    // has such an object.

    static Threads* find_allowance() {
        Threads* executor = first;
        while (executor != nullptr && !executor->allowance) executor = executor->next;
        return executor;
    }
    void take_allowance(Threads* from) {
        allowance.emplace(kParallelism, num_workers);
        if (from != nullptr) from->allowance.reset();
    }
    void pass_allowance_on() {
        Threads* largest = nullptr;
        for (Threads* executor = first; executor != nullptr; executor = executor->next)
            if (largest == nullptr || executor->num_workers > largest->num_workers) largest = executor;
        if (largest != nullptr && largest->num_workers > static_cast<std::uint32_t>(tbb::info::default_concurrency()))
            largest->take_allowance(this);
    }

    static constexpr auto kParallelism = tbb::global_control::max_allowed_parallelism;

    // The list of living executors. list_mutex guards it and the allowances.
    static inline std::mutex list_mutex;
    static inline Threads* first = nullptr;
    static inline std::uint64_t last_number = 0;
    Threads* next = nullptr;
    std::uint64_t number = 0;  // never reused
    std::optional<tbb::global_control> allowance;

    std::uint32_t num_workers;
    std::mutex arena_mutex;  // guards the creation of the arena
    tbb::task_arena arena;
    OpenLoops loops;
    CalledThreads called;
    std::atomic<bool> stopping{false};
    std::atomic<std::uint32_t> num_inside{0};  // threads in stay()
    std::atomic<bool> lacks_threads{false};
};

ThreadedExecutor::ThreadedExecutor(std::uint32_t num_workers) {
    if (num_workers == 0) num_workers = static_cast<std::uint32_t>(tbb::info::default_concurrency());
    threads_ = make_owned<Threads>(kOwner, num_workers);
}

ThreadedExecutor::~ThreadedExecutor() { destroy_owned(kOwner, threads_); }

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
