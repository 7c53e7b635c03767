#pragma once
// An executor runs loops of chunks on several threads. The interface is small, so that an engine can use its own job
// system for shoal. There are two implementations: one that uses oneTBB, and a serial one.
//
//     start(n, function, context, fence)      function(context, 0, w) ... function(context, n - 1, w), in any order,
//     wait(fence)                             each once; all have finished when wait() returns
//
// A fence belongs to one loop at a time, and wait() waits only for that loop. The waiting thread helps with that loop,
// so a chunk may start another loop and wait for it, to any depth.
//
// Threads may join a loop late or never. The waiting thread runs all chunks that no other thread has begun, so if
// threads are missing, the loop is only slower: in the worst case, a schedule runs all passes on one thread. It then
// waits for the chunks that other threads have begun, however long they take. In the meantime, free threads run passes
// that do not depend on the loop. An executor does not begin chunks of a loop after wait() has returned.
//
// Thread: start() and wait() may be called by any chunk and, outside of chunks, by one thread at a time. The thread
// that starts a loop must wait for it. Chunk functions must not throw. Query loops and for_rows() catch the exceptions
// that the program's functions throw (see failure.h).

#include "shoal/base/assert.h"

#include <cstdint>

namespace shoal {

/// Runs one chunk of a loop. `worker` is below Executor::num_workers() and can index scratch memory: no other chunk
/// with the same worker number runs at the same time, except for chunks of loops that this chunk waits for.
using ChunkFunction = void (*)(void* context, std::uint32_t chunk, std::uint32_t worker);

/// A started loop that can be waited for.
class Fence {
public:
    Fence() = default;
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    /// Requires: the loop has been waited for.
    ~Fence() { SHOAL_ASSERT(loop_ == nullptr, "a fence was destroyed before its loop was waited for; call wait()"); }

    /// For executors. The executor's own data between start() and wait(); otherwise nullptr.
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

    /// Returns the number of threads that run chunks, including the thread that waits. Results must not depend on it.
    virtual std::uint32_t num_workers() const = 0;
    /// Returns the worker number of the calling thread; 0 outside of chunks.
    virtual std::uint32_t current_worker() const = 0;

    /// Starts a loop. The loop may run immediately, in parallel with the caller, or only in wait().
    /// Requires: `fence` has no loop. Lifetime: `context` and `fence` are valid until wait() returns.
    virtual void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) = 0;
    /// Returns when all chunks of the fence's loop have finished. What they wrote is then visible, and the fence can be
    /// reused. Returns immediately if the fence has no loop.
    virtual void wait(Fence& fence) = 0;
};

/// An executor that runs each loop inside start(), chunk by chunk. For tests and debugging.
class SHOAL_API SerialExecutor final : public Executor {
public:
    SerialExecutor();
    ~SerialExecutor() override;

    std::uint32_t num_workers() const override;
    std::uint32_t current_worker() const override;
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) override;
    void wait(Fence& fence) override;
};

/// An executor that runs loops on oneTBB's threads. In every frame, worker w runs the w-th share of the chunks, so that
/// the share's rows stay in the worker's cache. When its share is done, the worker steals chunks from the ends of other
/// shares.
///
/// All executors share oneTBB's threads. If an executor has more workers than the machine has hardware threads,
/// oneTBB's limit is raised to the number of workers of the largest living executor. A lower limit that the program
/// sets with tbb::global_control takes precedence. An executor may be created and destroyed inside chunks of another
/// executor.
class SHOAL_API ThreadedExecutor final : public Executor {
public:
    /// With 0, there is one worker per hardware thread. The calling thread is one of the workers.
    explicit ThreadedExecutor(std::uint32_t num_workers = 0);
    /// Requires: wait() has been called for each of its loops.
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
