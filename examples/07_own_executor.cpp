// Runs shoal on the threads of an engine. An executor needs start(), wait() and two numbers.
#include <shoal/world/world.h>

#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

class OwnExecutor final : public shoal::Executor {
public:
    explicit OwnExecutor(unsigned num_workers) : num_workers_(num_workers) {
        for (unsigned worker = 1; worker < num_workers; ++worker)
            threads_.emplace_back([this, worker](std::stop_token stop) { work(stop, worker); });
    }
    std::uint32_t num_workers() const override { return num_workers_; }
    std::uint32_t current_worker() const override { return t_worker; }

    void start(std::uint32_t num_chunks, shoal::ChunkFunction function, void* context, shoal::Fence& fence) override {
        const std::lock_guard lock(mutex_);
        loops_.push_back({function, context, num_chunks, 0, 0});
        fence.set_loop(&loops_.back());
        changed_.notify_all();
    }
    void wait(shoal::Fence& fence) override {
        if (fence.loop() == nullptr) return;
        Loop& loop = *static_cast<Loop*>(fence.loop());
        std::unique_lock lock(mutex_);
        while (loop.next < loop.num_chunks) run_next(loop, lock);  // helps with this loop only
        changed_.wait(lock, [&] { return loop.num_finished == loop.num_chunks; });
        loops_.remove_if([&](const Loop& other) { return &other == &loop; });
        fence.set_loop(nullptr);
    }

private:
    struct Loop {
        shoal::ChunkFunction function;
        void* context;
        std::uint32_t num_chunks, next, num_finished;
    };
    void run_next(Loop& loop, std::unique_lock<std::mutex>& lock) {
        const std::uint32_t chunk = loop.next++;
        lock.unlock();
        loop.function(loop.context, chunk, t_worker);
        lock.lock();
        if (++loop.num_finished == loop.num_chunks) changed_.notify_all();
    }
    void work(const std::stop_token& stop, unsigned worker) {
        t_worker = worker;
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return unfinished() != nullptr; })) run_next(*unfinished(), lock);
    }
    Loop* unfinished() {
        for (Loop& loop : loops_)
            if (loop.next < loop.num_chunks) return &loop;
        return nullptr;
    }
    static inline thread_local std::uint32_t t_worker = 0;
    unsigned num_workers_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::list<Loop> loops_;
    std::vector<std::jthread> threads_;  // destroyed first, which stops and joins the threads
};

int main() {
    OwnExecutor executor(3);
    std::vector<float> heights(100'000, 1);
    auto rise = [&](shoal::RowRange rows, std::uint32_t) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) heights[row] += float(row % 2);
    };
    shoal::Schedule schedule;
    schedule.add("rise", {shoal::writes(heights)}, [&](shoal::PassContext& pass) {
        shoal::for_rows(pass.executor, std::uint32_t(heights.size()), shoal::kByteGranularity, rise);
    });
    for (int frame = 0; frame < 4; ++frame) schedule.run(executor, 1.0f / 60, std::uint64_t(frame));
    std::printf("%g and %g after %d frames\n", heights[0], heights[99'999], int(schedule.statistics(0).num_runs));
}
