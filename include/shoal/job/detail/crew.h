#pragma once
// A crew keeps an executor's workers running for a whole frame: each worker is a chunk of one long loop. The workers
// share the loops that start during the frame, which is faster than waking threads for each loop.
//
//     executor    |- wait ---------------------------------------------|      one loop, a chunk per worker
//     worker 0     do_next ... its share of a loop ... do_next .........
//     worker 1     ........... its share of that loop ... do_next ......
//
// An idle worker helps with a running loop. If no loop is running, it takes the next piece of work. If there is none,
// it waits until a loop starts or a piece of work ends. While a worker waits for its own loop, it helps only with that
// loop, as executor.h promises.
// Thread: one thread at a time calls run(); the work calls start() and wait().

#include "shoal/job/executor.h"

namespace shoal {

/// The work of a crew. All functions may be called from several threads at the same time.
class CrewWork {
public:
    /// Does a piece of work that is ready. Returns false if no work is ready.
    virtual bool do_next(std::uint32_t worker) = 0;
    virtual bool finished() const = 0;

    /// Returns the calling thread's task.
    virtual void* task() const = 0;
    /// Sets the calling thread's task, which is nullptr while the thread waits. Returns the previous task.
    virtual void* switch_to(void* task, std::uint32_t worker) = 0;

protected:
    ~CrewWork() = default;
};

class SHOAL_API Crew final : public Executor {
public:
    /// Lifetime: `executor` outlives the crew.
    explicit Crew(Executor& executor);
    ~Crew() override;

    /// Does the work, and returns when it is finished.
    void run(CrewWork& work);
    /// Wakes the workers. Call it when do_next() may find more work, or when finished() has become true.
    void wake();

    Executor& executor() const { return executor_; }
    std::uint32_t num_workers() const override { return num_workers_; }
    std::uint32_t current_worker() const override { return executor_.current_worker(); }
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) override;
    void wait(Fence& fence) override;

private:
    struct State;

    void stay(std::uint32_t worker);
    bool help(std::uint32_t worker);

    Executor& executor_;
    std::uint32_t num_workers_;
    CrewWork* work_ = nullptr;
    State* state_;
};

}  // namespace shoal
