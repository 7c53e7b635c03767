#include "inspector/bandwidth.h"

#include "shoal/base/clock.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal::inspect {
namespace {

constexpr std::size_t kNumWords = std::size_t(4) << 20;  // 32 MiB per thread, which is larger than the caches
constexpr int kNumAttempts = 3;

std::atomic<double> measured{0};
std::once_flag was_measured;

double measure() {
    const unsigned num_threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    std::vector<std::vector<std::uint64_t>> words(num_threads, std::vector<std::uint64_t>(kNumWords, 1));
    std::atomic<std::uint64_t> sum{0};  // so that the loop is not optimized away
    double best = 0;
    for (int attempt = 0; attempt < kNumAttempts; ++attempt) {
        const std::int64_t begin = monotonic_ns();
        std::vector<std::thread> threads;
        for (const std::vector<std::uint64_t>& own : words)
            threads.emplace_back([&own, &sum] {
                std::uint64_t total = 0;
                for (const std::uint64_t word : own) total += word;
                sum += total;
            });
        for (std::thread& thread : threads) thread.join();
        const auto elapsed = static_cast<double>(std::max<std::int64_t>(monotonic_ns() - begin, 1));
        best = std::max(best, static_cast<double>(num_threads * kNumWords * sizeof(std::uint64_t)) / elapsed);
    }
    return best;
}

}  // namespace

double bandwidth_gb_per_s() { return measured.load(); }

void measure_bandwidth() {
    std::call_once(was_measured, [] { measured.store(measure()); });
}

}  // namespace shoal::inspect
