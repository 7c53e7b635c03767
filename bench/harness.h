#pragma once
// Measures calls of shoal against the same work written by hand, side by side, as ratios.
//
//     round 0    shoal shoal ...   reference reference ...      each side for at least a millisecond
//     round 1    reference ...     shoal ...                    the other one first
//     ...
//
// Times vary from hour to hour, the ratio within a round far less. The result is therefore the median of the rounds'
// ratios, with their 10th and 90th percentiles. Both sides compute a checksum after each round; the program ends if
// they differ. Times are CPU times of the thread (wall-clock times when several threads work), less the cost of the
// clock.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
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

/// Ends the program with a message and its usage, and exit code 2.
[[noreturn]] void fail_usage(std::string_view program, std::string_view usage, std::string_view message);
/// Reads the flags of a program, of which `usage` says which there are. Ends the program where it is used wrongly, and
/// after --help.
Options read_options(std::string_view program, std::string_view usage, std::span<char* const> words);

/// One side of a comparison.
struct Side {
    std::function<void()> prepare{};          ///< before each run, not timed; may be empty
    std::function<void()> run;                ///< the timed work
    std::function<std::uint64_t()> checksum;  ///< of the state after the last run of a round
};

struct Workload {
    std::string name;
    std::size_t n = 0;          ///< entities of one run
    double target = 0;          ///< of the ratio; 0: none
    std::size_t num_bytes = 0;  ///< read by one run, for results that are better shown as a rate
    bool wall_time = false;     ///< for work on several threads
};

/// A target for levels; data that fits into the nearest cache has none.
constexpr double from_100k(std::size_t n, double target) { return n >= 100'000 ? target : 0; }

struct Measurement {
    std::string workload;
    std::size_t n = 0;
    double shoal_ns = 0, reference_ns = 0;  ///< per entity, medians
    double ratio = 0, ratio_p10 = 0, ratio_p90 = 0;
    double target = 0;                                                              ///< 0: none
    double bytes_per_entity = 0, reference_bytes_per_entity = 0, target_bytes = 0;  ///< 0: does not apply
    double mb_per_s = 0, target_mb_per_s = 0;                                       ///< 0: does not apply
    double change_ns = 0, target_change_ns = 0;  ///< cost of a change per frame; 0: does not apply
};

class Bench {
public:
    explicit Bench(const Options& options);

    bool wants(const std::string& workload) const;
    /// Returns the sizes to measure: with --quick, those up to 100,000.
    std::vector<std::size_t> sizes(std::initializer_list<std::size_t> sizes) const;

    /// Measures, prints a line and keeps the result, which the caller may complete before the next call.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference);
    /// The same for a result with more than times.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference,
                         const std::function<void(Measurement&)>& complete);

    /// Prints and keeps a result measured elsewhere, such as in another process.
    void add(const Measurement& result);
    bool quick() const { return options_.quick; }

    std::span<const Measurement> results() const { return results_; }

private:
    Options options_;
    std::vector<Measurement> results_;
};

/// Returns the medians of both sides' times and of their ratios. Shape: one of each per round.
Measurement summarize(const Workload& workload, const std::vector<double>& shoal_ns,
                      const std::vector<double>& reference_ns, const std::vector<double>& ratios);

void print_heading();
void print_result(const Measurement& result);

/// Returns the results as JSON: a list of objects.
std::string to_json(std::span<const Measurement> results);
/// Ends the program if to_json() has not written the file.
std::vector<Measurement> read_results(const std::string& path);

/// Returns the results as a Markdown table with missed targets in bold.
std::string draw_table(std::span<const Measurement> results);
/// Returns the bars of all results as an SVG.
std::string draw_chart(std::span<const Measurement> results);

/// Ends the program with a message: a benchmark has no caller to return an error to.
[[noreturn]] void fail(const std::string& message);
/// Returns the value, or ends the program with the message of the status.
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
