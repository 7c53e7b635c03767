#pragma once
// Runs the passes of a schedule on a crew: a pass is ready when all that it follows have ended, and the first of the
// line goes first.
// Thread: run() by one thread; the rest by the crew.

#include "shoal/job/crew.h"
#include "world/schedule_entry.h"

#include <atomic>
#include <mutex>

namespace shoal {

class Schedule::Runner final : public CrewWork {
public:
    Runner(Schedule& schedule, Executor& executor) : schedule_(schedule), crew_(executor) {}

    bool fits(const Executor& executor) const {
        return &crew_.executor() == &executor && crew_.num_workers() == executor.num_workers();
    }
    /// Requires: the schedule has a plan.
    void run(float dt, std::uint64_t frame);

    bool do_next(std::uint32_t worker) override;
    bool finished() const override { return num_left_.load(std::memory_order_acquire) == 0; }
    void* task() const override;
    void* switch_to(void* task, std::uint32_t worker) override;

private:
    struct Working;

    static Working& working();
    Entry& entry_at(std::uint32_t position) const;
    void begin_run();
    void push_ready(std::uint32_t position);
    bool take_ready(std::uint32_t& position);
    void run_pass(Entry& entry, std::uint32_t worker);
    void end_pass(std::uint32_t position);

    Schedule& schedule_;
    Crew crew_;
    float dt_ = 0;
    std::uint64_t frame_ = 0;
    std::mutex mutex_;                                     // guards the next two
    Array<std::uint32_t> num_leaders_{Owner("schedule")};  // by position: that have not ended
    Array<std::uint32_t> ready_{Owner("schedule")};        // positions, a heap: the first on top
    std::atomic<std::uint32_t> num_left_{0};               // passes that have not ended
};

}  // namespace shoal
