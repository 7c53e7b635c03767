#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace shoal_bench {
namespace {

constexpr double kBlockNs = 1e6;      // each side runs for at least this time in each round,
constexpr double kMaxBlockNs = 60e6;  // unless preparing it takes longer than this
constexpr std::size_t kLeastRounds = 15, kMostRounds = 41, kQuickRounds = 5;
constexpr double kUsualWallNs = 1.5e9;  // after this time, no more than kLeastRounds rounds

double clock_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}
double cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
double wall_ns() { return clock_ns(CLOCK_MONOTONIC); }

double percentile(std::vector<double> values, double part) {
    const auto place = values.begin() + std::ptrdiff_t(std::lround(part * double(values.size() - 1)));
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

using Clock = double (*)();

/// Returns the overhead of a measurement with two calls of the clock.
double measure_cost_ns(Clock clock) {
    std::vector<double> costs(1001);
    for (double& one : costs) {
        const double begin = clock();
        one = clock() - begin;
    }
    return percentile(costs, 0.5);
}
double clock_cost_ns(Clock clock) {
    static const double cpu_cost = measure_cost_ns(cpu_ns), wall_cost = measure_cost_ns(wall_ns);
    return clock == cpu_ns ? cpu_cost : wall_cost;
}

/// Prevents the compiler from moving accesses across this call, or caching values in registers.
void forget() { asm volatile("" ::: "memory"); }

/// Runs one side `num_runs` times, and returns the mean time of a run. Units: ns.
double run_block(const Side& side, std::size_t num_runs, Clock clock) {
    double total = 0;
    if (side.prepare) {
        for (std::size_t i = 0; i < num_runs; ++i) {
            side.prepare();
            forget();
            const double begin = clock();
            side.run();
            forget();
            total += std::max(clock() - begin - clock_cost_ns(clock), 1.0);
        }
    } else {
        const double begin = clock();
        for (std::size_t i = 0; i < num_runs; ++i) {
            side.run();
            forget();
        }
        total = std::max(clock() - begin - clock_cost_ns(clock), 1.0);
    }
    return total / double(num_runs);
}

/// Returns the number of runs in a block: enough to measure, but few enough to prepare quickly.
std::size_t choose_num_runs(const Side& shoal, const Side& reference, Clock clock) {
    const double begin = wall_ns();
    const double shoal_ns = run_block(shoal, 1, clock);
    const double reference_ns = run_block(reference, 1, clock);
    const double both_ns = wall_ns() - begin;
    const double wanted = std::ceil(kBlockNs / std::max(std::min(shoal_ns, reference_ns), 30.0));
    const double most = std::max(1.0, 2 * kMaxBlockNs / both_ns);
    return std::size_t(std::clamp(wanted, 1.0, most));
}

void check(const Workload& workload, const Side& shoal, const Side& reference) {
    const std::uint64_t mine = shoal.checksum(), other = reference.checksum();
    if (mine == other) return;
    fail(workload.name + " with " + std::to_string(workload.n) + " entities: shoal's checksum is " +
         std::to_string(mine) + ", the reference's " + std::to_string(other) + "; they do not do the same work");
}

}  // namespace

void fail(const std::string& message) {
    std::fprintf(stderr, "shoal_bench: %s\n", message.c_str());
    std::exit(1);
}

Measurement summarize(const Workload& workload, const std::vector<double>& shoal_ns,
                      const std::vector<double>& reference_ns, const std::vector<double>& ratios) {
    Measurement result;
    result.workload = workload.name;
    result.n = workload.n;
    result.target = workload.target;
    result.shoal_ns = percentile(shoal_ns, 0.5) / double(workload.n);
    result.reference_ns = percentile(reference_ns, 0.5) / double(workload.n);
    result.ratio = percentile(ratios, 0.5);
    result.ratio_p10 = percentile(ratios, 0.1);
    result.ratio_p90 = percentile(ratios, 0.9);
    if (workload.num_bytes != 0) result.mb_per_s = double(workload.num_bytes) / percentile(shoal_ns, 0.5) * 1e3;
    return result;
}

Bench::Bench(const Options& options) : options_(options) {}

bool Bench::wants(const std::string& workload) const {
    return !options_.has_filter || std::regex_search(workload, options_.filter);
}

std::vector<std::size_t> Bench::sizes(std::initializer_list<std::size_t> sizes) const {
    std::vector<std::size_t> result;
    for (const std::size_t n : sizes)
        if (!options_.quick || n <= 100'000) result.push_back(n);
    return result;
}

Measurement& Bench::compare(const Workload& workload, const Side& shoal, const Side& reference) {
    return compare(workload, shoal, reference, [](Measurement&) {});
}

Measurement& Bench::compare(const Workload& workload, const Side& shoal, const Side& reference,
                            const std::function<void(Measurement&)>& complete) {
    const Clock clock = workload.wall_time ? wall_ns : cpu_ns;
    run_block(shoal, 1, clock);
    run_block(reference, 1, clock);
    const std::size_t num_runs = choose_num_runs(shoal, reference, clock);
    check(workload, shoal, reference);
    const std::size_t least_rounds = options_.quick ? kQuickRounds : kLeastRounds;
    const std::size_t most_rounds = options_.quick ? kQuickRounds : kMostRounds;
    std::vector<double> mine, other, ratios;
    const double begin = wall_ns();
    while (ratios.size() < least_rounds || (ratios.size() < most_rounds && wall_ns() - begin < kUsualWallNs)) {
        const bool shoal_first = ratios.size() % 2 == 0;
        if (shoal_first) mine.push_back(run_block(shoal, num_runs, clock));
        other.push_back(run_block(reference, num_runs, clock));
        if (!shoal_first) mine.push_back(run_block(shoal, num_runs, clock));
        ratios.push_back(mine.back() / other.back());
        check(workload, shoal, reference);
    }
    Measurement result = summarize(workload, mine, other, ratios);
    complete(result);
    add(result);
    return results_.back();
}

void Bench::add(const Measurement& result) {
    print_result(result);
    results_.push_back(result);
}

}  // namespace shoal_bench
