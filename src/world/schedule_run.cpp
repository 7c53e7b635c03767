#include "world/schedule_run.h"

#include "shoal/base/clock.h"
#include "shoal/world/trace.h"

#include <algorithm>
#include <functional>

namespace shoal {

/// What a thread works at.
struct Schedule::Runner::Working {
    Entry* entry = nullptr;  // nullptr: it waits, or does nothing for a schedule
    std::uint32_t worker = 0;
    std::int64_t since_ns = 0;
    std::uint64_t frame = 0;
    Trace* trace = nullptr;

    /// Puts the time since to the account of the pass.
    void account(std::int64_t now_ns) const {
        if (entry == nullptr) return;
        // One thread after another may be this worker, and what orders them is the executor's own.
        __atomic_fetch_add(&entry->worker_ns[worker], now_ns - since_ns, __ATOMIC_RELAXED);
        if (trace != nullptr) trace->add(worker, {since_ns, now_ns, frame, entry->trace_name});
    }
};

Schedule::Runner::Working& Schedule::Runner::working() {
    thread_local Working working;
    return working;
}

void* Schedule::Runner::task() const { return working().entry; }

void* Schedule::Runner::switch_to(void* task, std::uint32_t worker) {
    Working& now = working();
    Entry* const before = now.entry;
    const std::int64_t now_ns = monotonic_ns();
    now.account(now_ns);
    now = {static_cast<Entry*>(task), worker, now_ns, frame_, schedule_.trace_};
    if constexpr (SHOAL_CHECKED != 0) set_write_guard(now.entry);
    return before;
}

Schedule::Entry& Schedule::Runner::entry_at(std::uint32_t position) const {
    return *schedule_.entries_[schedule_.plan_->line.line[position]];
}

void Schedule::Runner::run(float dt, std::uint64_t frame) {
    dt_ = dt;
    frame_ = frame;
    begin_run();
    if (finished()) return;
    // A pass may run another world's schedule, whose workers have other numbers.
    const Working outer = working();
    working() = {};
    crew_.run(*this);
    working() = outer;
    if constexpr (SHOAL_CHECKED != 0) set_write_guard(outer.entry);
}

void Schedule::Runner::begin_run() {
    const PassLine& line = schedule_.plan_->line;
    num_leaders_.assign(line.num_leaders.begin(), line.num_leaders.end());
    ready_.clear();
    std::uint32_t num_running = 0;
    for (std::uint32_t position = 0; position < line.line.size(); ++position) {
        Entry& entry = entry_at(position);
        entry.runs = __atomic_load_n(&entry.statistics.enabled, __ATOMIC_RELAXED);
        entry.worker_ns.resize(crew_.num_workers());
        num_running += entry.runs;
        if (num_leaders_[position] == 0) push_ready(position);
    }
    num_left_.store(num_running == 0 ? 0 : static_cast<std::uint32_t>(line.line.size()), std::memory_order_release);
}

void Schedule::Runner::push_ready(std::uint32_t position) {
    ready_.push_back(position);
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
}

bool Schedule::Runner::take_ready(std::uint32_t& position) {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return false;
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    position = ready_.back();
    ready_.pop_back();
    return true;
}

bool Schedule::Runner::do_next(std::uint32_t worker) {
    std::uint32_t position = 0;
    if (!take_ready(position)) return false;
    Entry& entry = entry_at(position);
    if (entry.runs) {
        const PassScope scope(position + 1);
        run_pass(entry, worker);
    }
    end_pass(position);
    return true;
}

void Schedule::Runner::run_pass(Entry& entry, std::uint32_t worker) {
    PassContext context{crew_, dt_, frame_};
    void* const before = switch_to(&entry, worker);
    const std::int64_t begin_ns = working().since_ns;
    entry.pass->run(context);
    switch_to(before, worker);
    PassStatistics& statistics = entry.statistics;
    statistics.last_ns = working().since_ns - begin_ns;
    statistics.total_ns += statistics.last_ns;
    statistics.num_rows = context.num_rows;
    statistics.num_bytes = context.num_bytes;
    statistics.total_rows += context.num_rows;
    statistics.total_bytes += context.num_bytes;
    ++statistics.num_runs;
}

void Schedule::Runner::end_pass(std::uint32_t position) {
    std::size_t num_ready = 0;
    {
        const std::lock_guard lock(mutex_);
        for (const std::uint32_t follower : schedule_.plan_->line.followers[position])
            if (--num_leaders_[follower] == 0) push_ready(follower);
        num_ready = ready_.size();
    }
    const bool was_last = num_left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (was_last || num_ready > 1) crew_.call_together();  // one is for this worker
}

}  // namespace shoal
