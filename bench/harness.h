#pragma once
// Compares calls of shoal with the same work written by hand, and reports the ratios of their times.
//
//     round 0    shoal shoal ...   reference reference ...      each side for at least a millisecond
//     round 1    reference ...     shoal ...                    the other one first
//     ...
//
// Times vary from hour to hour, but the ratio within a round varies far less. The result is therefore the median of the
// ratios of all rounds, with their 10th and 90th percentiles. Both sides compute a checksum after each round, and the
// program ends if these differ. Times are CPU times of the thread, or wall-clock times for several threads, minus the
// overhead of the clock.

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
    std::string json_path;   ///< file to write results to
    std::string chart_path;  ///< file to write the chart to
    std::string table_path;  ///< file to write a Markdown table to
    std::string from_path;   ///< file to read results from, instead of measuring
};

/// Prints a message and the usage, and ends the program with exit code 2.
[[noreturn]] void fail_usage(std::string_view program, std::string_view usage, std::string_view message);
/// Reads the command line. Prints `usage` and ends the program after --help or an invalid flag.
Options read_options(std::string_view program, std::string_view usage, std::span<char* const> words);

/// One side of a comparison.
struct Side {
    std::function<void()> prepare{};          ///< before each run, not timed; may be empty
    std::function<void()> run;                ///< the timed work
    std::function<std::uint64_t()> checksum;  ///< of the state after a round
};

struct Workload {
    std::string name;
    std::size_t n = 0;          ///< number of entities in a run
    double target = 0;          ///< target of the ratio; 0: none
    std::size_t num_bytes = 0;  ///< bytes read by a run, for results that are shown as a rate
    bool wall_time = false;     ///< measure wall-clock time, for work on several threads
};

/// Returns the target for a number of entities. Data that fits into the nearest cache has no target.
constexpr double from_100k(std::size_t n, double target) { return n >= 100'000 ? target : 0; }

struct Measurement {
    std::string workload;
    std::size_t n = 0;
    double shoal_ns = 0, reference_ns = 0;  ///< medians per entity
    double ratio = 0, ratio_p10 = 0, ratio_p90 = 0;
    double target = 0;                                                              ///< 0: none
    double bytes_per_entity = 0, reference_bytes_per_entity = 0, target_bytes = 0;  ///< 0: does not apply
    double mb_per_s = 0, target_mb_per_s = 0;                                       ///< 0: does not apply
    double change_ns = 0, target_change_ns = 0;  ///< cost of a change; 0: does not apply
};

class Bench {
public:
    explicit Bench(const Options& options);

    bool wants(const std::string& workload) const;
    /// Returns the sizes to measure: with --quick, those up to 100,000.
    std::vector<std::size_t> sizes(std::initializer_list<std::size_t> sizes) const;

    /// Measures a workload, prints a line and stores the result. The caller may complete the result before the next
    /// call.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference);
    /// The same, but calls `complete` with the result before it is printed.
    Measurement& compare(const Workload& workload, const Side& shoal, const Side& reference,
                         const std::function<void(Measurement&)>& complete);

    /// Prints and stores a result that was measured elsewhere, such as in another process.
    void add(const Measurement& result);
    bool quick() const { return options_.quick; }

    std::span<const Measurement> results() const { return results_; }

private:
    Options options_;
    std::vector<Measurement> results_;
};

/// Returns the medians of the times of both sides, and of their ratios. Shape: by round.
Measurement summarize(const Workload& workload, const std::vector<double>& shoal_ns,
                      const std::vector<double>& reference_ns, const std::vector<double>& ratios);

void print_heading();
void print_result(const Measurement& result);

/// Returns the results as a JSON array of objects.
std::string to_json(std::span<const Measurement> results);
/// Reads a file written by to_json(). Ends the program if the file is invalid.
std::vector<Measurement> read_results(const std::string& path);

/// Returns the results as a Markdown table. Results that miss their target come first, in bold.
std::string draw_table(std::span<const Measurement> results);
/// Returns a bar chart of all results as SVG.
std::string draw_chart(std::span<const Measurement> results);

/// Prints a message and ends the program.
[[noreturn]] void fail(const std::string& message);
/// Returns the value, or ends the program with the message of the error.
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
