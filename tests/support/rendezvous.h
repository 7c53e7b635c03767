#pragma once
// Threads that wait for each other in a loop, to show that no thread runs it alone.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal_test {

/// The first call of each thread returns when so many threads have called, or after ten seconds.
class Rendezvous {
public:
    /// Waits so long for the others: short where nobody else is to come.
    explicit Rendezvous(std::size_t num_wanted, std::chrono::milliseconds patience = std::chrono::seconds(10))
        : num_wanted_(num_wanted), patience_(patience) {}

    void enter() {
        if (is_over_.load(std::memory_order_relaxed)) return;
        note(std::this_thread::get_id());
        const auto end = std::chrono::steady_clock::now() + patience_;
        while (num_threads() < num_wanted_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        is_over_ = true;
    }
    /// How many threads have come.
    std::size_t num_threads() const {
        const std::lock_guard lock(mutex_);
        return threads_.size();
    }

private:
    void note(std::thread::id thread) {
        const std::lock_guard lock(mutex_);
        if (std::find(threads_.begin(), threads_.end(), thread) == threads_.end()) threads_.push_back(thread);
    }

    const std::size_t num_wanted_;
    const std::chrono::milliseconds patience_;
    std::atomic<bool> is_over_{false};
    mutable std::mutex mutex_;
    std::vector<std::thread::id> threads_;
};

}  // namespace shoal_test
