#pragma once
// The chunks of one running loop, shared out among workers.
//
//     chunks     0 1 2 3 | 4 5 6 7 | 8 9 10 11       worker w owns the w-th share and takes from its front;
//                    > <                             who has finished its own takes from the backs of others
//
// A share is one 64-bit word on a cache line of its own, taken from by compare-and-swap. When the last chunk has
// finished, the waiting thread is woken.
// Thread: run() from any thread that is counted in num_users.

#include "shoal/job/executor.h"

#include <atomic>

namespace shoal {

/// Lets the other thread of a core go first while this one spins.
inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class ChunkLoop {
public:
    explicit ChunkLoop(std::uint32_t num_workers);
    ~ChunkLoop();
    ChunkLoop(const ChunkLoop&) = delete;
    ChunkLoop& operator=(const ChunkLoop&) = delete;

    /// Requires: nobody uses it.
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, std::uint32_t users);
    /// Becomes a user, unless there is none: then the loop has ended.
    bool try_join() {
        std::uint32_t users = num_users_.load(std::memory_order_relaxed);
        while (users != 0)
            if (num_users_.compare_exchange_weak(users, users + 1, std::memory_order_acquire)) return true;
        return false;
    }
    bool has_users() const { return num_users_.load(std::memory_order_acquire) != 0; }
    /// Whether all chunks have finished.
    bool finished() const { return num_unfinished_.load(std::memory_order_acquire) == 0; }
    /// Runs chunks until none is left to take.
    void run(std::uint32_t worker);
    /// Returns when all chunks have finished.
    void wait_until_finished() const;
    /// Returns whether this was the last user: the loop can be started again.
    bool drop_user() { return num_users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

private:
    struct alignas(64) Share {
        std::atomic<std::uint64_t> chunks;  // the first in the low half, the end in the high
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
    Share* shares_ = nullptr;  // by worker; in memory_
    std::uint32_t num_workers_;
    std::atomic<std::uint32_t> num_users_{0};  // the fence, and every thread that was asked to help
    std::atomic<std::uint32_t> num_unfinished_{0};
};

}  // namespace shoal
