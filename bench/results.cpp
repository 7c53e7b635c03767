// Writes results as table rows and as JSON.

#include "harness.h"

#include "shoal/base/file.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/json.h"

#include <cstdio>
#include <vector>

namespace shoal_bench {
namespace {

std::string format(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

/// Returns a JSON number with enough digits for ratios and nanoseconds.
std::string number(double value) { return format("%.6g", value); }

std::string note(const Measurement& result) {
    std::string text;
    if (result.bytes_per_entity != 0) {
        text = format("%.1f B/entity", result.bytes_per_entity);
        if (result.reference_bytes_per_entity != 0)
            text += format(" (reference %.1f)", result.reference_bytes_per_entity);
        if (result.target_bytes != 0) text += format(", at most %.0f", result.target_bytes);
    }
    if (result.mb_per_s != 0) {
        text = format("%.0f MB/s", result.mb_per_s);
        if (result.target_mb_per_s != 0) text += format(", at least %.0f", result.target_mb_per_s);
    }
    if (result.change_ns != 0) {
        text = format("%.0f ns/change", result.change_ns);
        if (result.target_change_ns != 0) text += format(", at most %.0f", result.target_change_ns);
    }
    return text;
}

}  // namespace

void print_heading() {
    std::printf("%-40s %8s %10s %10s %7s %7s %7s %7s  %s\n", "workload", "n", "shoal ns", "ref. ns", "ratio", "p10",
                "p90", "target", "");
}

void print_result(const Measurement& result) {
    const std::string target = result.target == 0 ? "-" : format("%.2f", result.target);
    const char* missed = result.target != 0 && result.ratio > result.target ? "*" : " ";
    std::printf("%-40s %8zu %10.3f %10.3f %7.3f %7.3f %7.3f %7s%s %s\n", result.workload.c_str(), result.n,
                result.shoal_ns, result.reference_ns, result.ratio, result.ratio_p10, result.ratio_p90, target.c_str(),
                missed, note(result).c_str());
    std::fflush(stdout);
}

std::string draw_table(std::span<const Measurement> results) {
    std::string text =
        "| workload | entities | shoal ns | reference ns | ratio (p10 to p90) | target | |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    for (const bool missed : {true, false})
        for (const Measurement& result : results) {
            if (missed != (result.target != 0 && result.ratio > result.target)) continue;
            const std::string ratio = format(missed ? "**%.2f**" : "%.2f", result.ratio);
            text += "| `" + result.workload + "` | " + std::to_string(result.n) + " | " +
                    format("%.3g", result.shoal_ns) + " | " + format("%.3g", result.reference_ns) + " | " + ratio +
                    " (" + format("%.2f", result.ratio_p10) + " to " + format("%.2f", result.ratio_p90) + ") | " +
                    (result.target != 0 ? format("%.2f", result.target) : std::string()) + " | " + note(result) +
                    " |\n";
        }
    return text;
}

std::string to_json(std::span<const Measurement> results) {
    std::string text = "[";
    for (const Measurement& result : results) {
        text += text.size() == 1 ? "\n  {" : ",\n  {";
        text += "\"workload\": \"" + result.workload + "\", \"n\": " + std::to_string(result.n);
        const auto add = [&](const char* key, double value) {
            text += std::string(", \"") + key + "\": " + number(value);
        };
        const auto add_if = [&](const char* key, double value) {
            if (value != 0) add(key, value);
        };
        add("shoal_ns", result.shoal_ns);
        add("reference_ns", result.reference_ns);
        add("ratio", result.ratio);
        add("ratio_p10", result.ratio_p10);
        add("ratio_p90", result.ratio_p90);
        add_if("target", result.target);
        add_if("bytes_per_entity", result.bytes_per_entity);
        add_if("reference_bytes_per_entity", result.reference_bytes_per_entity);
        add_if("target_bytes_per_entity", result.target_bytes);
        add_if("mb_per_s", result.mb_per_s);
        add_if("target_mb_per_s", result.target_mb_per_s);
        add_if("change_ns", result.change_ns);
        add_if("target_change_ns", result.target_change_ns);
        text += "}";
    }
    return text + "\n]\n";
}

std::vector<Measurement> read_results(const std::string& path) {
    shoal::Diagnostics diagnostics;
    const shoal::Result<shoal::Document> document =
        shoal::read_json(diagnostics.add_file(path, need(shoal::read_file(path))), diagnostics);
    if (!document) fail(diagnostics.format());
    std::vector<Measurement> results;
    for (const shoal::Node node : document->root()) {
        const auto number = [&](const char* key) {
            const shoal::Node value = node.find(key);
            return value && value.is_number() ? value.as_double() : 0.0;
        };
        const shoal::Node workload = node.find("workload");
        if (!workload || !workload.is_string() || number("ratio") <= 0) fail(path + " is not a list of results");
        results.push_back({.workload = std::string(workload.as_string()),
                           .n = static_cast<std::size_t>(number("n")),
                           .shoal_ns = number("shoal_ns"),
                           .reference_ns = number("reference_ns"),
                           .ratio = number("ratio"),
                           .ratio_p10 = number("ratio_p10"),
                           .ratio_p90 = number("ratio_p90"),
                           .target = number("target"),
                           .bytes_per_entity = number("bytes_per_entity"),
                           .reference_bytes_per_entity = number("reference_bytes_per_entity"),
                           .target_bytes = number("target_bytes_per_entity"),
                           .mb_per_s = number("mb_per_s"),
                           .target_mb_per_s = number("target_mb_per_s"),
                           .change_ns = number("change_ns"),
                           .target_change_ns = number("target_change_ns")});
    }
    return results;
}

}  // namespace shoal_bench
