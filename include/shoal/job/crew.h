#pragma once
// Workers that stay together for a frame. A crew is one long loop of an executor; loops started in it are shared out
// among the workers that are in it already, which is quicker than to call threads together for every loop.
//
//     executor    |- wait ---------------------------------------------|      one loop, a chunk per worker
//     worker 0     do_next ... a loop's first share ... do_next ........
//     worker 1     ....... helps with that loop's second share ... do_next
//
// A worker that has nothing to do helps with a loop that is open; when none is, it asks for the next piece of work;
// when there is none, it waits until a loop starts or a piece of work ends. A worker that waits for a loop of its own
// helps with that loop only, as executor.h promises.
// Thread: run() by one thread at a time; start() and wait() within the work.

#include "shoal/job/executor.h"

namespace shoal {

/// What a crew does. All functions are called from several threads at once.
class CrewWork {
public:
    /// Does a piece of work that can be done now. Returns false when there is none.
    virtual bool do_next(std::uint32_t worker) = 0;
    virtual bool finished() const = 0;

    /// What the calling thread works at.
    virtual void* task() const = 0;
    /// Tells that the calling thread works at `task` from now on (nullptr: it waits), and returns what it was before.
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
    /// To be called after the work has changed so that do_next() may find more, or finished() is true.
    void call_together();

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
