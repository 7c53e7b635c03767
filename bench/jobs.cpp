// Loops on two workers, and what it costs to keep the ledger. Times of several threads are of the wall clock.
//
//     jobs/compute_two_workers    pure arithmetic: two workers beside two plain threads; the gain of the first is to be
//                                 0.95 of that of the others
//     jobs/iterate_two_workers    p += v dt: two workers beside one
//     jobs/empty_loop             a loop of two chunks that do nothing: nanoseconds, beside the 500 that it may take
//     jobs/ledger_cost            passes of a schedule, timed and traced, beside the same loops without

#include "reference.h"
#include "shoal/base/file.h"
#include "shoal/store/query.h"
#include "shoal/world/schedule.h"
#include "shoal/world/trace.h"
#include "workloads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <thread>

namespace shoal_bench {

using namespace shoal;

struct Drifter {
    Vec3 position, velocity;
};
SHOAL_COMPONENT(Drifter, position, velocity)

namespace {

constexpr float kDt = 1.0f / 64;
constexpr std::size_t kRounds = 31, kQuickRounds = 5;

double wall_ns(const std::function<void()>& run, std::size_t num_runs) {
    const std::int64_t begin_ns = monotonic_ns();
    for (std::size_t i = 0; i < num_runs; ++i) run();
    return double(monotonic_ns() - begin_ns) / double(num_runs);
}

double percentile(std::vector<double> values, double part) {
    const auto place = values.begin() + std::ptrdiff_t(std::lround(part * double(values.size() - 1)));
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// Rounds of both, in turn, by the wall clock.
void compare_wall(Bench& bench, const Workload& workload, std::size_t num_runs, const std::function<void()>& shoal,
                  const std::function<void()>& reference) {
    std::vector<double> mine, other, ratios;
    wall_ns(shoal, num_runs), wall_ns(reference, num_runs);
    for (std::size_t round = 0; round < (bench.quick() ? kQuickRounds : kRounds); ++round) {
        if (round % 2 == 0) mine.push_back(wall_ns(shoal, num_runs));
        other.push_back(wall_ns(reference, num_runs));
        if (round % 2 == 1) mine.push_back(wall_ns(shoal, num_runs));
        ratios.push_back(mine.back() / other.back());
    }
    Measurement result;
    result.workload = workload.name;
    result.n = workload.n;
    result.target = workload.target;
    result.shoal_ns = percentile(mine, 0.5) / double(workload.n);
    result.reference_ns = percentile(other, 0.5) / double(workload.n);
    result.ratio = percentile(ratios, 0.5);
    result.ratio_p10 = percentile(ratios, 0.1);
    result.ratio_p90 = percentile(ratios, 0.9);
    bench.add(result);
}

/// Numbers, each worked upon in registers: milliseconds in all, beside which it costs little to make a thread.
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
    compare_wall(bench, {.name = "jobs/compute_two_workers", .n = n, .target = 1 / 0.95}, 1, shoal, plain);
    if (mine != other) fail("jobs/compute_two_workers: the two do not do the same work");
}

/// Entities that drift.
struct Drifters {
    explicit Drifters(std::size_t n) : manager(entities, pool) {
        std::vector<Entity> ids(n);
        std::vector<Drifter> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = {{float(i % 1024), float(i % 77), 0}, {1, float(i % 7), 2}};
        need_ok(entities.create(ids));
        need(manager.add(ids, std::span<const Drifter>(values)));
    }
    auto moving() { return query<Write<&Drifter::position>, Read<&Drifter::velocity>>(manager); }
    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (const Vec3& p : manager.column<&Drifter::position>().span())
            result += mix(std::bit_cast<std::uint32_t>(p.x)) + 3 * mix(std::bit_cast<std::uint32_t>(p.y));
        return result;
    }

    EntityManager entities;
    PagePool pool;
    Manager<Drifter> manager;
};

constexpr auto kDrift = [](auto&& p, Vec3 v) { p += v * kDt; };

void measure_iterate(Bench& bench) {
    if (!bench.wants("jobs/iterate_two_workers")) return;
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        Drifters shared(n), alone(n);
        ThreadedExecutor two(2);
        compare_wall(
            bench, {.name = "jobs/iterate_two_workers", .n = n, .target = n == 1'000'000 ? 0.65 : 0}, 20'000'000 / n,
            [&] { shared.moving().for_each(two, kDrift); }, [&] { alone.moving().for_each(kDrift); });
        if (shared.sum() != alone.sum()) fail("jobs/iterate_two_workers: the two do not do the same work");
    }
}

void measure_empty_loop(Bench& bench) {
    if (!bench.wants("jobs/empty_loop")) return;
    constexpr double kAllowed_ns = 500;
    ThreadedExecutor executor(2);
    const auto loop = [&] {
        Fence fence;
        executor.start(2, [](void*, std::uint32_t, std::uint32_t) {}, nullptr, fence);
        executor.wait(fence);
    };
    std::vector<double> times;
    for (std::size_t round = 0; round < (bench.quick() ? kQuickRounds : kRounds); ++round)
        times.push_back(wall_ns(loop, 10'000));
    const auto ratio = [&](double part) { return percentile(times, part) / kAllowed_ns; };
    Measurement result;
    result.workload = "jobs/empty_loop";
    result.n = 1;
    result.target = 1;
    result.shoal_ns = percentile(times, 0.5);
    result.reference_ns = kAllowed_ns;
    result.ratio = ratio(0.5), result.ratio_p10 = ratio(0.1), result.ratio_p90 = ratio(0.9);
    bench.add(result);
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
        for (int i = 0; i < kPasses; ++i) schedule.add("drift " + std::to_string(i), kept.moving(), kDrift);
        std::uint64_t frame = 0;
        bench.compare(
            {.name = "jobs/ledger_cost", .n = n * kPasses, .target = 1.01},
            {.prepare = {}, .run = [&] { schedule.run(executor, 0, frame++); }, .checksum = [&] { return kept.sum(); }},
            {.prepare = {},
             .run =
                 [&] {
                     for (int i = 0; i < kPasses; ++i) bare.moving().for_each(executor, kDrift);
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
