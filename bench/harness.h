#pragma once
// Ratios between a call of shoal and the same work written by hand, measured side by side.
//
//     round 0    shoal shoal ...   reference reference ...      each side as often as it takes for a millisecond
//     round 1    reference ...     shoal ...                    the other one first
//     ...
//
// Times of a machine wander; the ratio inside one round does so much less. A result is therefore the median of the
// rounds' ratios, with their 10th and 90th percentile. Both sides give a checksum after each round; the program ends
// when they differ. Times are of the thread's CPU (of the wall's clock where several work), without what
// the clock itself costs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <span>
#include <string>
#include <vector>

namespace shoal_bench {

struct Options {
    bool has_filter = false;
    std::regex filter;
    bool quick = false;
    std::string json_path;   ///< write results
    std::string chart_path;  ///< write bars
    std::string table_path;  ///< write a table for a document
    std::string from_path;   ///< read results instead of measuring
};

/// One side of a comparison.
struct Side {
    std::function<void()> prepare;            ///< before each run, not timed; none: runs follow on each other
    std::function<void()> run;                ///< what is timed
    std::function<std::uint64_t()> checksum;  ///< after each round, of what the last run left
};

struct Workload {
    std::string name;
    std::size_t n = 0;          ///< entities of one run
    double target = 0;          ///< of the ratio; 0: none
    std::size_t num_bytes = 0;  ///< read by one run, where a rate says more than a time
    bool wall_time = false;     ///< several threads work: what counts is when they are done
};

/// A target that is meant for levels, not for what is small enough to be in the nearest cache anyhow.
constexpr double from_100k(std::size_t n, double target) { return n >= 100'000 ? target : 0; }

struct Measurement {
    std::string workload;
    std::size_t n = 0;
    double shoal_ns = 0, reference_ns = 0;  ///< per entity, medians
    double ratio = 0, ratio_p10 = 0, ratio_p90 = 0;
    double target = 0;                                                              ///< 0: none
    double bytes_per_entity = 0, reference_bytes_per_entity = 0, target_bytes = 0;  ///< 0: does not apply
    double mb_per_s = 0, target_mb_per_s = 0;                                       ///< 0: does not apply
};

class Bench {
public:
    explicit Bench(const Options& options);

    bool wants(const std::string& workload) const;
    /// Those of `sizes` to be measured: with --quick up to 100,000.
    std::vector<std::size_t> sizes(std::initializer_list<std::size_t> sizes) const;

    /// Measures, prints a line and keeps the result, which the caller may complete before the next call.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference);
    /// The same for a result that has more to say than times.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference,
                         const std::function<void(Measurement&)>& complete);

    /// Prints and keeps what was measured elsewhere, such as in other processes.
    void add(const Measurement& result);
    bool quick() const { return options_.quick; }

    std::span<const Measurement> results() const { return results_; }

private:
    Options options_;
    std::vector<Measurement> results_;
};

/// What rounds have shown: the medians of both sides' times of a run, and of their ratios. Shape: one of each a round.
Measurement summarize(const Workload& workload, const std::vector<double>& shoal_ns,
                      const std::vector<double>& reference_ns, const std::vector<double>& ratios);

void print_heading();
void print_result(const Measurement& result);

/// What the results are as JSON: a list of objects.
std::string to_json(std::span<const Measurement> results);
/// Ends the program when the file is not what to_json wrote.
std::vector<Measurement> read_results(const std::string& path);

/// The results as a table in Markdown, missed targets in bold.
std::string draw_table(std::span<const Measurement> results);
/// The bars of all results as SVG.
std::string draw_chart(std::span<const Measurement> results);

/// Ends the program with a message: a benchmark has nobody to return an error to.
[[noreturn]] void fail(const std::string& message);
/// Returns the value, or ends the program with the status' message.
template <class R>
auto need(R result) {
    if (!result.ok()) fail(std::string(result.message()));
    return std::move(*result);
}
template <class S>
void need_ok(const S& status) {
    if (!status.ok()) fail(std::string(status.message()));
}

}  // namespace shoal_bench
