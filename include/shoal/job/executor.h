#pragma once
// Runs loops of chunks on several threads. An interface of a few functions, so that an engine can put its own job
// system behind shoal; oneTBB and a serial one are here.
//
//     start(n, function, context, fence)      function(context, 0, w) ... function(context, n - 1, w), any order,
//     wait(fence)                             each once, all finished when wait() returns
//
// A fence belongs to one loop at a time: waiting for it waits for that loop only. The waiting thread helps with that
// loop, so a loop may be started and waited for inside a chunk of another, to any depth.
//
// Thread: start() and wait() are called by one thread outside the executor at a time, and by any chunk. A loop is
// waited for by the thread that started it. Chunk functions do not throw.

#include "shoal/base/assert.h"

#include <cstdint>

namespace shoal {

/// Does one chunk of a loop. `worker` is below Executor::num_workers(), and no other chunk runs with it meanwhile but
/// those of loops that this chunk waits for: it can index scratch memory.
using ChunkFunction = void (*)(void* context, std::uint32_t chunk, std::uint32_t worker);

/// Where a started loop is waited for.
class Fence {
public:
    Fence() = default;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    /// Requires: the loop was waited for.
    ~Fence() { SHOAL_ASSERT(loop_ == nullptr, "a fence was destroyed before its loop was waited for; call wait()"); }

    /// For executors: what they keep of the loop from start() to wait(); nullptr between.
    void* loop() const { return loop_; }
    void set_loop(void* loop) { loop_ = loop; }

private:
    void* loop_ = nullptr;
};

class SHOAL_API Executor {
public:
    Executor() = default;
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor();

    /// Threads that run chunks, the waiting one included. Results must not depend on it.
    virtual std::uint32_t num_workers() const = 0;
    /// The worker that the calling thread is; 0 outside of chunks.
    virtual std::uint32_t current_worker() const = 0;

    /// Starts a loop. It may run at once, beside the caller, or not before it is waited for.
    /// Requires: `fence` has no loop. Lifetime: `context` and `fence` stay until wait() returns.
    virtual void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) = 0;
    /// Returns when all chunks of the fence's loop have finished; what they wrote is visible then. At once without a
    /// loop. The fence can be used again.
    virtual void wait(Fence& fence) = 0;
};

/// Runs each loop inside start(), chunk by chunk. For tests and debugging.
class SHOAL_API SerialExecutor final : public Executor {
public:
    SerialExecutor();
    ~SerialExecutor() override;

    std::uint32_t num_workers() const override;
    std::uint32_t current_worker() const override;
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) override;
    void wait(Fence& fence) override;
};

/// Runs loops on threads of oneTBB. Worker w takes the w-th share of the chunks, the same every frame, so that it finds
/// its rows in its cache; when it is done, it takes from the others' ends.
class SHOAL_API ThreadedExecutor final : public Executor {
public:
    /// 0 workers: as many as the machine runs at once. The calling thread counts as one.
    explicit ThreadedExecutor(std::uint32_t num_workers = 0);
    /// Requires: no loop runs.
    ~ThreadedExecutor() override;

    std::uint32_t num_workers() const override;
    std::uint32_t current_worker() const override;
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) override;
    void wait(Fence& fence) override;

private:
    struct Threads;
    Threads* threads_;
};

}  // namespace shoal
