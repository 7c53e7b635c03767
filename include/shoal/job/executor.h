#pragma once
// An executor runs loops of chunks on several threads. The interface has a few functions, so that an engine can put its
// own job system behind shoal. Two implementations are here: one on oneTBB, and a serial one.
//
//     start(n, function, context, fence)      function(context, 0, w) ... function(context, n - 1, w), in any order,
//     wait(fence)                             each once; all have finished when wait() returns
//
// A fence belongs to one loop at a time, and waiting for it waits for that loop only. The waiting thread helps with
// that loop, so a chunk may start another loop and wait for it, to any depth.
//
// Threads may be late. A chunk that nobody has begun is begun by the waiting thread, so that threads of the executor
// which never come, or come when the loop is over, cost nothing but time; with a schedule, one thread runs all passes
// then. A chunk that has begun is waited for, however long it takes: meanwhile all others of the loop run, and so do
// passes that do not wait for its pass, while there are threads for them. An executor begins no chunk of a loop after
// wait() has returned.
//
// Thread: start() and wait() are called by one thread outside the executor at a time, and by any chunk. The thread that
// starts a loop waits for it. Chunk functions do not throw; loops of queries and for_rows() catch what theirs throw
// (see failure.h).

#include "shoal/base/assert.h"

#include <cstdint>

namespace shoal {

/// Does one chunk of a loop. `worker` is below Executor::num_workers() and can index scratch memory: no other chunk
/// runs with the same number meanwhile, except for chunks of loops that this chunk waits for.
using ChunkFunction = void (*)(void* context, std::uint32_t chunk, std::uint32_t worker);

/// A started loop that can be waited for.
class Fence {
public:
    Fence() = default;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    /// Requires: the loop was waited for.
    ~Fence() { SHOAL_ASSERT(loop_ == nullptr, "a fence was destroyed before its loop was waited for; call wait()"); }

    /// For executors: their record of the loop from start() to wait(); otherwise nullptr.
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

    /// Returns the number of threads that run chunks, the waiting one included. Results must not depend on it.
    virtual std::uint32_t num_workers() const = 0;
    /// Returns the worker number of the calling thread; 0 outside of chunks.
    virtual std::uint32_t current_worker() const = 0;

    /// Starts a loop. It may run at once, in parallel with the caller, or only while it is waited for.
    /// Requires: `fence` has no loop. Lifetime: `context` and `fence` stay until wait() returns.
    virtual void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) = 0;
    /// Returns when all chunks of the fence's loop have finished; then their writes are visible. Returns at once if the
    /// fence has no loop. The fence can be used again.
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

/// Runs loops on the threads of oneTBB. Worker w takes the w-th share of the chunks, the same every frame, so that its
/// rows are in its cache; when its share is done, it steals from the ends of the others.
///
/// All executors share the threads of oneTBB. If one asks for more workers than the machine runs at once, oneTBB is
/// told to allow as many as the largest living executor needs; a smaller limit of the program (tbb::global_control)
/// wins. An executor may be made and destroyed inside chunks of another.
class SHOAL_API ThreadedExecutor final : public Executor {
public:
    /// 0 workers: as many as the machine runs at once. The calling thread is one of them.
    explicit ThreadedExecutor(std::uint32_t num_workers = 0);
    /// Requires: all of its loops were waited for.
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
