#pragma once
// Classes that executors and crews use to run loops: the chunks of one loop, and the set of loops that idle threads can
// help with.
// Thread: see each class.

#include "shoal/base/detail/page_memory.h"
#include "shoal/job/executor.h"

#include <atomic>
#include <optional>

namespace shoal {

/// Lets the other hardware thread of the core run while this thread spins.
inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// The chunks of a running loop, divided among the workers.
///
///     chunks     0 1 2 3 | 4 5 6 7 | 8 9 10 11       worker w owns the w-th share and takes from its front; a worker
///                    > <                             that has finished its own share steals from the backs of others
///
/// A share is one 64-bit word, which is on its own cache line and is changed by compare-and-swap. The last chunk to
/// finish wakes the waiting thread.
/// Thread: any thread that is counted as a user may call run().
class ChunkLoop {
public:
    explicit ChunkLoop(std::uint32_t num_workers);
    ~ChunkLoop();
    ChunkLoop(const ChunkLoop&) = delete;
    ChunkLoop& operator=(const ChunkLoop&) = delete;

    /// Requires: the loop has no users.
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, std::uint32_t users);
    /// Adds a user. Returns false if there are no users, because the loop has ended.
    bool try_join() {
        std::uint32_t users = num_users_.load(std::memory_order_relaxed);
        while (users != 0)
            if (num_users_.compare_exchange_weak(users, users + 1, std::memory_order_acquire)) return true;
        return false;
    }
    bool has_users() const { return num_users_.load(std::memory_order_acquire) != 0; }
    /// Whether all chunks have finished.
    bool finished() const { return num_unfinished_.load(std::memory_order_acquire) == 0; }
    /// Runs chunks until none are left.
    void run(std::uint32_t worker);
    /// Returns when all chunks have finished.
    void wait_until_finished() const;
    /// Removes a user. Returns whether it was the last user; if so, the loop can be started again.
    bool drop_user() { return num_users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

private:
    struct alignas(64) Share {
        std::atomic<std::uint64_t> chunks;  // low half: the first chunk; high half: the end
    };
    struct Taken {
        bool any;
        std::uint32_t chunk;
    };

    static Taken take(Share& share, bool from_back);
    Taken take(std::uint32_t worker);
    std::size_t memory_bytes() const { return (num_workers_ + 1) * sizeof(Share); }

    ChunkFunction function_ = nullptr;
    void* context_ = nullptr;
    void* memory_ = nullptr;
    Share* shares_ = nullptr;  // indexed by worker; in memory_
    std::uint32_t num_workers_;
    std::atomic<std::uint32_t> num_users_{0};  // the fence and each helping thread are users
    std::atomic<std::uint32_t> num_unfinished_{0};
};

/// The running loops that idle threads can join.
///
///     open bits   0 1 1 0 0 ...     the loops in slots 1 and 2 probably have chunks left to take
///     slots       . A B . . ...     opened and finished by the thread that started the loop; joined by others
///
/// Thread: any. A slot is reused only when all threads have left its loop.
class OpenLoops {
public:
    /// A slot for a running loop.
    struct Loop {
        std::optional<ChunkLoop> chunks;  // created when the slot is first used
        std::atomic<bool> claimed{false};
        void* task = nullptr;  ///< the task that the loop belongs to; see CrewWork
        std::uint32_t index = 0;
    };

    OpenLoops(std::uint32_t num_workers, const char* owner);
    ~OpenLoops();
    OpenLoops(const OpenLoops&) = delete;
    OpenLoops& operator=(const OpenLoops&) = delete;

    /// Starts a loop. Returns nullptr if all slots are in use.
    Loop* open(std::uint32_t num_chunks, ChunkFunction function, void* context, void* task);
    /// Frees the slot. The thread that opened the loop calls this when all chunks have finished.
    void finish(Loop& loop);

    bool any_open() const { return open_->load(std::memory_order_seq_cst) != 0; }
    /// Joins an open loop; call leave() after its run(). Returns nullptr if there is no open loop, or if the loop has
    /// just ended.
    Loop* join();
    void leave(Loop& loop);
    /// Records that a loop has no chunks left. Requires: the caller has opened or joined the loop, and has not left it.
    void close(const Loop& loop);

    bool none_in_use() const;

private:
    static constexpr std::uint32_t kMost = 64;  // maximum number of open loops, at all depths; one bit each

    std::size_t memory_bytes() const { return kMost * sizeof(Loop) + 3 * kCacheLineBytes; }

    std::uint32_t num_workers_;
    const char* owner_;
    void* memory_;
    Loop* loops_;                       // kMost loops; in memory_
    std::atomic<std::uint64_t>* open_;  // read very often, so it has its own cache line; in memory_
};

/// Counts the threads that have been requested to help with loops, and how many of these threads are idle. A loop that
/// finds enough idle threads requests no more threads, so an idle thread may leave only if no loop relies on it.
/// Thread: any.
class CalledThreads {
public:
    /// At most `most` threads are requested at a time.
    explicit CalledThreads(std::uint32_t most) : most_(most) {}

    std::uint32_t num_idle() const { return num_idle_.load(std::memory_order_seq_cst); }

    /// Increments the numbers of requested threads and of idle threads. Returns false if the limit is reached.
    bool enter() {
        std::uint32_t called = num_called_.load(std::memory_order_seq_cst);
        while (called < most_)
            if (num_called_.compare_exchange_weak(called, called + 1, std::memory_order_seq_cst)) {
                num_idle_.fetch_add(1, std::memory_order_seq_cst);
                return true;
            }
        return false;
    }
    /// Decrements the numbers of requested threads and of idle threads.
    void cancel() {
        num_idle_.fetch_sub(1, std::memory_order_seq_cst);
        num_called_.fetch_sub(1, std::memory_order_seq_cst);
    }
    /// Between these two calls, the calling thread does not count as idle.
    void begin_help() { num_idle_.fetch_sub(1, std::memory_order_seq_cst); }
    void end_help() { num_idle_.fetch_add(1, std::memory_order_seq_cst); }

    /// Lets an idle thread leave. Returns false if an open loop may rely on the thread, which then stays counted.
    bool leave(const OpenLoops& loops) {
        cancel();
        // A loop that was opened before the counters changed may rely on this thread. A loop that is opened later
        // requests one.
        return !loops.any_open() || !enter();
    }

private:
    const std::uint32_t most_;
    std::atomic<std::uint32_t> num_called_{0};  // requested threads that have not left
    std::atomic<std::uint32_t> num_idle_{0};    // how many of them are idle
};

}  // namespace shoal
