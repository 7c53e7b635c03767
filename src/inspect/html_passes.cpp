// The passes in a report: a table, their graph, the fields that they read and write, and the last frame.

#include "inspect/html_sections.h"
#include "inspect/palette.h"
#include "shoal/inspect/schedule_picture.h"
#include "shoal/inspect/text_table.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace shoal {
namespace {

// Limits that keep a report small.
constexpr std::size_t kMostPasses = 150, kMostEdges = 300, kMostCells = 6'000, kMostSpans = 1'500;
constexpr double kLeastScale = 0.8;

/// Returns a map from the name of each pass to the number of its colour in the graph.
std::map<std::string_view, std::size_t> color_numbers(const ScheduleGraph& graph) {
    std::map<std::string_view, std::size_t> numbers;
    for (std::size_t i = 0; i < graph.passes.size(); ++i) numbers.emplace(graph.passes[i].name, i);
    return numbers;
}

std::string when_text(const PassReport& pass) {
    if (!pass.enabled) return "disabled";
    if (pass.every_seconds > 0) return concat("every ", pass.every_seconds, " s");
    return pass.every_frames > 1 ? concat("every ", pass.every_frames, " frames") : "each frame";
}

void write_table(const WorldReport& report, const ScheduleGraph& graph, HtmlWriter& html) {
    const std::map<std::string_view, std::size_t> colors = color_numbers(graph);
    double most = 0;
    for (const PassReport& pass : report.passes) most = std::max(most, pass.total_ms());
    html.begin_panel("What each pass costs");
    HtmlTable table(html, {{"Pass"},
                           {"When"},
                           {"Runs", true},
                           {"Rows", true},
                           {"Total, ms", true},
                           {"Mean, ms", true},
                           {"Last, ms", true},
                           {"GB/s", true}});
    for (const PassReport& pass : report.passes) {
        const auto color = colors.find(pass.name);
        table.add_row({{pass.name, false, -1, color == colors.end() ? "#8d9cb5" : kind_color(color->second)},
                       {when_text(pass), false, -1, {}, !pass.enabled},
                       number_cell(count_text(pass.num_runs)),
                       number_cell(count_text(pass.num_rows)),
                       number_cell(decimal_text(pass.total_ms(), 2), most > 0 ? pass.total_ms() / most : 0),
                       number_cell(decimal_text(pass.mean_ms(), 3)),
                       number_cell(decimal_text(pass.last_ms(), 3)),
                       number_cell(pass.total_bytes == 0 ? "" : decimal_text(pass.gb_per_s(), 2))});
    }
    table.end();
    html.end_panel();
}

double width_of_svg(const std::string& svg) {
    constexpr std::string_view kWidth = " width=\"";
    return std::strtod(svg.c_str() + svg.find(kWidth) + kWidth.size(), nullptr);
}

void write_graph(const WorldReport& report, const ScheduleGraph& graph, HtmlWriter& html) {
    html.begin_panel("Which wait for which");
    if (graph.passes.size() > kMostPasses || graph.edges.size() > kMostEdges) {
        html.hint("too many passes to draw here; shoal run --schedule draws them");
    } else {
        const std::string svg = schedule_svg(graph, {.passes = report.passes});
        // The graph is scaled down to fit if it stays readable, and scrolls otherwise.
        html.put("<div class=\"scroll picture\"><div style=\"min-width:{:.0f}px\">", kLeastScale * width_of_svg(svg));
        html.put_svg(svg);
        html.put_html("</div></div>\n");
    }
    html.end_panel();
}

/// For each field, returns "R", "W" or "RW" for each pass that accesses it. The first field is "*", which means
/// everything.
std::map<std::string_view, std::vector<std::string>> accesses_by_field(const ScheduleGraph& graph) {
    std::map<std::string_view, std::vector<std::string>> fields;
    const auto note = [&](const std::vector<std::string>& names, std::size_t pass, char letter) {
        for (const std::string& name : names) {
            std::vector<std::string>& cells = fields[name];
            cells.resize(graph.passes.size());
            if (cells[pass].find(letter) == std::string::npos) cells[pass] += letter;
        }
    };
    for (std::size_t pass = 0; pass < graph.passes.size(); ++pass) {
        note(graph.passes[pass].reads, pass, 'R');
        note(graph.passes[pass].writes, pass, 'W');
    }
    return fields;
}

void write_matrix(const ScheduleGraph& graph, HtmlWriter& html) {
    const auto fields = accesses_by_field(graph);
    html.begin_panel("Who reads (R) and writes (W) what");
    if (fields.empty() || fields.size() * graph.passes.size() > kMostCells) {
        html.hint(fields.empty() ? "no pass declares anything" : "too many passes and fields to show here");
        return html.end_panel();
    }
    html.put_html("<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th></th>");
    for (const PassNode& pass : graph.passes) html.put("<th>{}</th>", xml_text(pass.name, 40));
    html.put_html("</tr></thead><tbody>\n");
    for (const auto& [field, cells] : fields) {
        html.put("<tr><th>{}</th>", field == "*" ? "everything" : html_text(field));
        for (const std::string& cell : cells)
            html.put("<td{}>{}</td>", cell.empty() ? "" : cell == "R" ? " class=\"r\"" : " class=\"w\"", cell);
        html.put_html("</tr>\n");
    }
    html.put_html("</tbody></table></div>\n");
    html.end_panel();
}

class TimelineWriter {
public:
    TimelineWriter(const Timeline& timeline, const ScheduleGraph& graph, HtmlWriter& html)
        : timeline_(timeline), colors_(color_numbers(graph)), html_(html) {}

    void write() {
        std::size_t num_spans = 0;
        for (const std::vector<TimelineSpan>& spans : timeline_.workers) num_spans += spans.size();
        if (num_spans == 0) return;
        html_.begin_panel(concat("Frame ", count_text(timeline_.frame), ", which took ",
                                 decimal_text(static_cast<double>(timeline_.end_ns) * 1e-6, 3), " ms"));
        if (num_spans > kMostSpans) {
            html_.hint("too many parts to draw here; shoal run --trace writes them all");
            return html_.end_panel();
        }
        const double height = kTop + static_cast<double>(timeline_.workers.size()) * kLane;
        html_.put(
            "<div class=\"scroll picture\"><svg class=\"timeline\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\">\n",
            kWidth, height);
        axis(height);
        for (std::size_t worker = 0; worker < timeline_.workers.size(); ++worker) lane(worker);
        html_.put_html("</svg></div>\n");
        html_.end_panel();
    }

private:
    static constexpr double kWidth = 1180, kLeft = 84, kTop = 24, kLane = 32;

    double x(std::int64_t ns) const {
        return kLeft + static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, timeline_.end_ns)) *
                           (kWidth - kLeft - 8);
    }

    void axis(double height) {
        constexpr int kMarks = 8;
        for (int i = 0; i < kMarks; ++i) {
            const std::int64_t ns = timeline_.end_ns * i / kMarks;
            html_.put(
                "<path class=\"grid\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/><text class=\"tick\" x=\"{0:.1f}\" "
                "y=\"12\">{3} ms</text>\n",
                x(ns), kTop - 6, height, decimal_text(static_cast<double>(ns) * 1e-6, 3));
        }
    }

    void lane(std::size_t worker) {
        const double y = kTop + static_cast<double>(worker) * kLane;
        html_.put("<text x=\"0\" y=\"{:.0f}\">worker {}</text>\n", y + 18, worker);
        for (const TimelineSpan& span : timeline_.workers[worker]) {
            const double width = std::max(1.0, x(span.end_ns) - x(span.begin_ns) - 0.5);
            const auto color = colors_.find(span.pass);
            html_.put(
                "<g><title>{}: {} ms</title><rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
                "rx=\"3\" fill=\"{}\"/>",
                html_text(span.pass), decimal_text(static_cast<double>(span.end_ns - span.begin_ns) * 1e-6, 3),
                x(span.begin_ns), y + 3, width, kLane - 8,
                color == colors_.end() ? "#8d9cb5" : kind_color(color->second));
            if (width > static_cast<double>(span.pass.size()) * 7 + 10)
                html_.put("<text class=\"name\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>", x(span.begin_ns) + 6, y + 19,
                          html_text(span.pass));
            html_.put_html("</g>\n");
        }
    }

    const Timeline& timeline_;
    const std::map<std::string_view, std::size_t> colors_;
    HtmlWriter& html_;
};

}  // namespace

void write_passes_section(const WorldReport& report, const ScheduleGraph& graph, const Timeline& timeline,
                          HtmlWriter& html) {
    html.put_html("<h2 id=\"passes\">Passes</h2>\n");
    if (report.passes.empty()) return html.hint("The world has no passes; a save has none.");
    write_table(report, graph, html);
    if (graph.passes.empty()) return;
    write_graph(report, graph, html);
    TimelineWriter(timeline, graph, html).write();
    write_matrix(graph, html);
}

}  // namespace shoal
