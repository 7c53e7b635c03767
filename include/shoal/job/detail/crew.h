#pragma once
// A crew keeps the workers of an executor together for a frame. It is one long loop of the executor; the loops that are
// started in it are shared among the workers that are there already, which is faster than calling threads for each
// loop.
//
//     executor    |- wait ---------------------------------------------|      one loop, a chunk per worker
//     worker 0     do_next ... its share of a loop ... do_next .........
//     worker 1     ........... its share of that loop ... do_next ......
//
// An idle worker helps with a loop that is under way; if there is none, it asks for the next piece of work; if there is
// none of that either, it waits until a loop starts or a piece of work ends. A worker that waits for its own loop helps
// with that loop only, as executor.h promises.
// Thread: run() by one thread at a time; start() and wait() within the work.

#include "shoal/job/executor.h"

namespace shoal {

/// The work of a crew. All functions are called from several threads at once.
class CrewWork {
public:
    /// Does a piece of work that is ready. Returns false when there is none.
    virtual bool do_next(std::uint32_t worker) = 0;
    virtual bool finished() const = 0;

    /// Returns what the calling thread is working at.
    virtual void* task() const = 0;
    /// From now on the calling thread works at `task` (nullptr: it waits). Returns what it worked at before.
    virtual void* switch_to(void* task, std::uint32_t worker) = 0;

protected:
    ~CrewWork() = default;
};

class SHOAL_API Crew final : public Executor {
public:
    /// `executor` outlives the crew.
    explicit Crew(Executor& executor);
    ~Crew() override;

    /// Returns when the work is finished.
    void run(CrewWork& work);
    /// Wakes the workers. To be called when do_next() may find more work, or when finished() has become true.
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
