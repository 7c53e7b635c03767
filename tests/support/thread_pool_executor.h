#pragma once
// An executor made of std::thread, a mutex and a condition variable: small enough to be seen to be right, and written
// against the public interface alone, as an engine's own is. A test can hold up its threads.

#include "shoal/job/executor.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal_test {

class ThreadPoolExecutor final : public shoal::Executor {
public:
    /// Called by each thread but the waiting one before it looks for its first chunk, and whenever it has taken one: it may
    /// wait.
    using Pause = std::function<void(unsigned worker, bool has_chunk)>;

    explicit ThreadPoolExecutor(unsigned num_workers, Pause pause = {})
        : num_workers_(num_workers), pause_(std::move(pause)) {
        for (unsigned worker = 1; worker < num_workers; ++worker)
            threads_.emplace_back([this, worker] { help(worker); });
    }
    ~ThreadPoolExecutor() override {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    std::uint32_t num_workers() const override { return num_workers_; }
    std::uint32_t current_worker() const override { return place().executor == this ? place().worker : 0; }

    void start(std::uint32_t num_chunks, shoal::ChunkFunction function, void* context, shoal::Fence& fence) override {
        SHOAL_ASSERT(fence.loop() == nullptr, "a fence belongs to one loop at a time; wait for the one before");
        {
            const std::lock_guard lock(mutex_);
            loops_.push_back({function, context, num_chunks, 0, 0});
            fence.set_loop(&loops_.back());
        }
        changed_.notify_all();
    }

    void wait(shoal::Fence& fence) override {
        if (fence.loop() == nullptr) return;
        Loop& loop = *static_cast<Loop*>(fence.loop());
        std::unique_lock lock(mutex_);
        while (loop.next < loop.num_chunks) run_next(loop, current_worker(), lock);
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
    struct CurrentWorker {
        const Executor* executor = nullptr;
        std::uint32_t worker = 0;
    };

    static CurrentWorker& place() {
        thread_local CurrentWorker place;
        return place;
    }

    void run_next(Loop& loop, std::uint32_t worker, std::unique_lock<std::mutex>& lock) {
        const std::uint32_t chunk = loop.next++;
        lock.unlock();
        if (pause_ && worker != 0) pause_(worker, true);
        loop.function(loop.context, chunk, worker);
        lock.lock();
        if (++loop.num_finished == loop.num_chunks) changed_.notify_all();
    }

    Loop* unfinished_loop() {
        for (Loop& loop : loops_)
            if (loop.next < loop.num_chunks) return &loop;
        return nullptr;
    }

    void help(unsigned worker) {
        place() = {this, worker};
        if (pause_) pause_(worker, false);
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            if (Loop* loop = unfinished_loop())
                run_next(*loop, worker, lock);
            else
                changed_.wait(lock);
        }
    }

    unsigned num_workers_;
    Pause pause_;
    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::list<Loop> loops_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace shoal_test
