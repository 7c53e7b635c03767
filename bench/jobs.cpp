// Measures loops on two workers, and the cost of timing passes. Times of several threads are wall-clock times.
//
//     jobs/compute_two_workers    pure arithmetic: two workers against two plain threads; 0.95 of their gain is asked
//     jobs/iterate_two_workers    p += v dt: two workers against one
//     jobs/empty_loop             a loop of two chunks that do nothing, in nanoseconds; it may take 500
//     jobs/ledger_cost            passes of a schedule, timed and traced, against the same loops without a schedule

#include "reference.h"
#include "shoal/base/clock.h"
#include "shoal/query/query.h"
#include "shoal/world/schedule.h"
#include "shoal/world/trace.h"
#include "workloads.h"

#include <bit>
#include <numeric>
#include <thread>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Drifter {
    Vec3 position, velocity;
};
SHOAL_COMPONENT(Drifter, position, velocity)

namespace {

constexpr std::size_t kJobRounds = 31, kQuickJobRounds = 5;

/// Computes in registers for milliseconds, so that the cost of starting a thread is negligible.
SHOAL_BENCH_LOOP void compute(std::uint64_t* values, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        std::uint64_t value = i;
        for (int k = 0; k < 256; ++k) value = (value ^ value >> 29) * 0xBF58476D1CE4E5B9u;
        values[i] = value;
    }
}

void measure_compute(Bench& bench) {
    if (!bench.wants("jobs/compute_two_workers")) return;
    constexpr std::uint32_t n = 200'000;
    std::vector<std::uint64_t> mine(n), other(n);
    ThreadedExecutor executor(2);
    const auto shoal = [&] {
        for_rows(executor, n, kByteGranularity,
                 [&](RowRange rows, std::uint32_t) { compute(mine.data(), rows.begin, rows.end); });
    };
    const auto plain = [&] {
        std::thread second([&] { compute(other.data(), n / 2, n); });
        compute(other.data(), 0, n / 2);
        second.join();
    };
    const auto sum = [](const std::vector<std::uint64_t>& values) {
        return std::accumulate(values.begin(), values.end(), std::uint64_t(0));
    };
    bench.compare({.name = "jobs/compute_two_workers", .n = n, .target = 1 / 0.95, .wall_time = true},
                  {{}, shoal, [&] { return sum(mine); }}, {{}, plain, [&] { return sum(other); }});
}

/// Entities that move at a constant velocity.
struct Drifters {
    explicit Drifters(std::size_t n) : manager(entities, pool) {
        std::vector<Entity> ids(n);
        std::vector<Drifter> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = {{float(i % 1024), float(i % 77), 0}, {1, float(i % 7), 2}};
        need_ok(entities.create(ids));
        need(manager.add(ids, std::span<const Drifter>(values)));
    }
    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (const Vec3& p : manager.column<&Drifter::position>().span())
            result += mix(std::bit_cast<std::uint32_t>(p.x)) + 3 * mix(std::bit_cast<std::uint32_t>(p.y));
        return result;
    }

    EntityManager entities;
    PagePool pool;
    Manager<Drifter> manager;
    decltype(query<Write<&Drifter::position>, Read<&Drifter::velocity>>(manager)) moving =
        query<Write<&Drifter::position>, Read<&Drifter::velocity>>(manager);
};

constexpr auto kDrift = [](auto&& p, Vec3 v) { p += v * kDt; };

void measure_iterate(Bench& bench) {
    if (!bench.wants("jobs/iterate_two_workers")) return;
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        Drifters shared(n), alone(n);
        ThreadedExecutor two(2);
        bench.compare(
            {.name = "jobs/iterate_two_workers", .n = n, .target = n == 1'000'000 ? 0.65 : 0, .wall_time = true},
            {{}, [&] { shared.moving.for_each(two, kDrift); }, [&] { return shared.sum(); }},
            {{}, [&] { alone.moving.for_each(kDrift); }, [&] { return alone.sum(); }});
    }
}

void measure_empty_loop(Bench& bench) {
    if (!bench.wants("jobs/empty_loop")) return;
    constexpr double kAllowed_ns = 500;
    constexpr std::size_t kNumLoops = 10'000;
    ThreadedExecutor executor(2);
    std::vector<double> times, ratios;
    for (std::size_t round = 0; round < (bench.quick() ? kQuickJobRounds : kJobRounds); ++round) {
        const std::int64_t begin_ns = monotonic_ns();
        for (std::size_t i = 0; i < kNumLoops; ++i) {
            Fence fence;
            executor.start(2, [](void*, std::uint32_t, std::uint32_t) {}, nullptr, fence);
            executor.wait(fence);
        }
        times.push_back(double(monotonic_ns() - begin_ns) / double(kNumLoops));
        ratios.push_back(times.back() / kAllowed_ns);
    }
    bench.add(summarize({.name = "jobs/empty_loop", .n = 1, .target = 1}, times, {kAllowed_ns}, ratios));
}

void measure_ledger(Bench& bench) {
    if (!bench.wants("jobs/ledger_cost")) return;
    constexpr int kPasses = 4;
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        Drifters kept(n), bare(n);
        SerialExecutor executor;
        Trace trace(1);
        Schedule schedule;
        schedule.set_trace(&trace);
        for (int i = 0; i < kPasses; ++i) schedule.add("drift " + std::to_string(i), kept.moving, kDrift);
        std::uint64_t frame = 0;
        bench.compare(
            {.name = "jobs/ledger_cost", .n = n * kPasses, .target = 1.01},
            {.prepare = {}, .run = [&] { schedule.run(executor, 0, frame++); }, .checksum = [&] { return kept.sum(); }},
            {.prepare = {},
             .run =
                 [&] {
                     for (int i = 0; i < kPasses; ++i) bare.moving.for_each(executor, kDrift);
                 },
             .checksum = [&] { return bare.sum(); }});
    }
}

}  // namespace

void measure_jobs(Bench& bench) {
    measure_compute(bench);
    measure_iterate(bench);
    measure_empty_loop(bench);
    measure_ledger(bench);
}

}  // namespace shoal_bench
