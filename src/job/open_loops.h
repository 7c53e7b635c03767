#pragma once
// Loops that are shared out among threads that are there already and look for work.
//
//     open bits   0 1 1 0 0 ...     slot 1 and slot 2 have loops with chunks left to take, as far as anyone knows
//     slots       . A B . . ...     opened and finished by the thread that started the loop; joined by others
//
// Thread: any. A loop that was joined is not reused before everyone has left.

#include "job/chunk_loop.h"
#include "shoal/base/page_memory.h"

#include <optional>

namespace shoal {

class OpenLoops {
public:
    /// A loop that runs, and place for the next.
    struct Loop {
        std::optional<ChunkLoop> chunks;  // made at the first use
        std::atomic<bool> claimed{false};
        void* task = nullptr;  ///< on whose account it runs
        std::uint32_t index = 0;
    };

    OpenLoops(std::uint32_t num_workers, const char* owner);
    ~OpenLoops();
    OpenLoops(const OpenLoops&) = delete;
    OpenLoops& operator=(const OpenLoops&) = delete;

    /// Starts a loop; nullptr when as many run as there is place for.
    Loop* open(std::uint32_t num_chunks, ChunkFunction function, void* context, void* task);
    /// For the one that opened it, when all chunks have finished.
    void finish(Loop& loop);

    bool any_open() const { return open_->load(std::memory_order_seq_cst) != 0; }
    /// Joins a loop that is open; nullptr when there is none, or has just ended. leave() it after its run().
    Loop* join();
    void leave(Loop& loop);
    /// Says that no chunk is left to take. Requires: the caller opened or joined the loop, and has not left.
    void close(const Loop& loop);

    bool none_in_use() const;

private:
    static constexpr std::uint32_t kMost = 64;  // at once, over all depths; a bit each

    std::size_t memory_bytes() const { return kMost * sizeof(Loop) + 3 * kCacheLineBytes; }

    std::uint32_t num_workers_;
    const char* owner_;
    void* memory_;
    Loop* loops_;                       // kMost; in memory_
    std::atomic<std::uint64_t>* open_;  // asked all the time: on a cache line of its own, in memory_
};

}  // namespace shoal
