// Draws a bar for each workload and size, on a logarithmic scale from a quarter of the reference's time to 32 times
// that time. A thin line spans the 10th to the 90th percentile of the rounds, and a black tick marks the target.
//
//     ids/create_one   100,000  |=========|-     1.27
//                               1/4   1   |   4 ...

#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace shoal_bench {
namespace {

constexpr double kRowHeight = 18, kGroupGap = 26, kTop = 64;
constexpr double kNameEnd = 300, kSizeEnd = 372, kBarBegin = 384, kBarWidth = 460,
                 kNoteBegin = kBarBegin + kBarWidth + 12;
constexpr double kWidth = kNoteBegin + 260;
constexpr double kLeastRatio = 0.25, kMostRatio = 32;
constexpr const char* kMet = "#2f7d4f";
constexpr const char* kMissed = "#b8442f";
constexpr const char* kNoTarget = "#7d8794";

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* pattern, ...) {
    char buffer[512];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
    va_end(arguments);
    text += buffer;
}

double place_of(double ratio) {
    const double part = std::log(ratio / kLeastRatio) / std::log(kMostRatio / kLeastRatio);
    return kBarBegin + kBarWidth * std::clamp(part, 0.0, 1.0);
}

std::string group_of(const std::string& workload) { return workload.substr(0, workload.find('/')); }

std::string with_commas(std::size_t number) {
    std::string text = std::to_string(number);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
}

const char* color_of(const Measurement& result) {
    if (result.target == 0) return kNoTarget;
    return result.ratio <= result.target ? kMet : kMissed;
}

std::string note_of(const Measurement& result) {
    char text[128];
    std::snprintf(text, sizeof text, result.ratio < 10 ? "%.2f" : "%.1f", result.ratio);
    std::string note = text;
    std::snprintf(text, sizeof text, "   %.3g ns / %.3g ns", result.shoal_ns, result.reference_ns);
    note += text;
    if (result.mb_per_s != 0) std::snprintf(text, sizeof text, "   %.0f MB/s", result.mb_per_s), note += text;
    if (result.bytes_per_entity != 0)
        std::snprintf(text, sizeof text, "   %.1f B", result.bytes_per_entity), note += text;
    return note;
}

void draw_scale(std::string& svg, double bottom) {
    struct Mark {
        double ratio;
        const char* text;
    };
    constexpr Mark kMarks[] = {{0.25, "1/4"}, {0.5, "1/2"}, {1, "1"},   {2, "2"},
                               {4, "4"},      {8, "8"},     {16, "16"}, {32, "32"}};
    for (const Mark& mark : kMarks) {
        const double x = place_of(mark.ratio);
        append(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>\n", x, kTop - 12, x, bottom,
               mark.ratio == 1 ? "#444" : "#ddd");
        append(svg, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x, kTop - 18, mark.text);
    }
}

void draw_bar(std::string& svg, const Measurement& result, double y) {
    const double end = place_of(result.ratio), middle = y - 4;
    append(svg, "<text x='%.0f' y='%.1f' text-anchor='end'>%s</text>", kNameEnd, y, result.workload.c_str());
    append(svg, "<text x='%.0f' y='%.1f' text-anchor='end'>%s</text>", kSizeEnd, y, with_commas(result.n).c_str());
    append(svg, "<rect x='%.0f' y='%.1f' width='%.1f' height='10' fill='%s'/>", kBarBegin, middle - 5, end - kBarBegin,
           color_of(result));
    append(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#222'/>", place_of(result.ratio_p10), middle,
           place_of(result.ratio_p90), middle);
    if (result.target != 0)
        append(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#000' stroke-width='2'/>",
               place_of(result.target), middle - 7, place_of(result.target), middle + 7);
    append(svg, "<text x='%.0f' y='%.1f'>%s</text>\n", kNoteBegin, y, note_of(result).c_str());
}

}  // namespace

std::string draw_chart(std::span<const Measurement> results) {
    std::string bars, group;
    double y = kTop;
    for (const Measurement& result : results) {
        if (group_of(result.workload) != group) {
            group = group_of(result.workload);
            y += kGroupGap - kRowHeight;
            append(bars, "<text x='12' y='%.1f' font-weight='bold'>%s</text>\n", y + kRowHeight, group.c_str());
        }
        y += kRowHeight;
        draw_bar(bars, result, y);
    }
    const double bottom = y + 10;
    std::string svg;
    append(svg, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' height='%.0f' ", kWidth,
           bottom + 12, kWidth, bottom + 12);
    svg += "font-family='sans-serif' font-size='12' fill='#222'>\n<rect width='100%' height='100%' fill='#fff'/>\n";
    append(svg, "<text x='12' y='24' font-size='15'>Time of shoal over time of the hand-written reference</text>\n");
    append(
        svg,
        "<text x='%.0f' y='24' text-anchor='end'>green: target (black tick) met; red: missed; grey: no target</text>\n",
        kWidth - 12);
    draw_scale(svg, bottom);
    return svg + bars + "</svg>\n";
}

}  // namespace shoal_bench
