#include "shoal/inspect/schedule_picture.h"

#include "inspect/palette.h"
#include "inspect/schedule_layout.h"
#include "inspect/xml_text.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace shoal {
namespace {

constexpr double kPageMargin = 20, kLegendHeight = 34;
constexpr double kLetter = 6.2;  // approximate width of a letter, in pixels
constexpr std::size_t kMostLetters = 26;

// Dark mode comes first, because programs that ignore the mode, such as converters to PNG, use the first one.
constexpr std::string_view kScheduleStyle =
    ".schedule text{font-family:Inter,'Helvetica Neue','Liberation "
    "Sans',Arial,sans-serif;font-size:12.5px;fill:#e2e9f4}"
    ".schedule .ground{fill:#0d1320}.schedule .box{fill:#1c273a;stroke:#34445f}"
    ".schedule .title{font-size:18px;font-weight:600}.schedule .name{font-weight:600}"
    ".schedule .sub,.schedule .time{font-size:11.5px;fill:#8d9cb5}"
    ".schedule .on{font-size:11px;fill:#a9b8d0;stroke:#0d1320;stroke-width:4px;stroke-linejoin:round;"
    "paint-order:stroke}"
    ".schedule .edge{fill:none;stroke:#6f86ad;stroke-width:1.5}.schedule .order{stroke:#f4b860;stroke-dasharray:5 4}"
    ".schedule .head{fill:#6f86ad}.schedule .order-head{fill:#f4b860}.schedule .track{fill:#34445f}"
    ".schedule .off{opacity:.5}"
    "@media (prefers-color-scheme:light){.schedule text{fill:#152033}.schedule .ground{fill:#f1f4f9}"
    ".schedule .box{fill:#fff;stroke:#c3cedd}.schedule .sub,.schedule .time{fill:#5d6d85}"
    ".schedule .on{fill:#44546c;stroke:#f1f4f9}.schedule .edge{stroke:#7d8ca6}.schedule .order{stroke:#b86a00}"
    ".schedule .head{fill:#7d8ca6}.schedule .order-head{fill:#b86a00}.schedule .track{fill:#dbe2ec}}";

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += concat(all.empty() ? "" : ", ", text == "*" ? "everything" : text);
    return all;
}

/// The label of an edge, which is the first name in `on` and the number of other names.
std::string label_of(const PassEdge& edge) {
    if (edge.on.empty()) return {};
    std::string text = edge.on[0] == "*" ? "everything" : edge.on[0];
    if (text.size() > kMostLetters) text = concat(utf8_start(text, kMostLetters - 1), "…");
    return edge.on.size() == 1 ? text : concat(text, " +", edge.on.size() - 1);
}

std::string full_name(const PassNode& pass) {
    return pass.group.empty() ? pass.name : concat(pass.group, " / ", pass.name);
}

using ReportsByName = std::map<std::string_view, const PassReport*>;

ReportsByName by_name(std::span<const PassReport> passes) {
    ReportsByName found;
    for (const PassReport& pass : passes) found.emplace(pass.name, &pass);
    return found;
}

/// The time of a pass as text, such as "0.021 ms", "disabled" or nothing.
std::string time_text(const PassReport* pass) {
    if (pass == nullptr) return {};
    if (!pass->enabled) return "disabled";
    return pass->num_runs == 0 ? std::string() : concat(decimal_text(pass->mean_ms(), 3), " ms");
}

class ScheduleWriter {
public:
    ScheduleWriter(const ScheduleGraph& graph, const SchedulePictureOptions& options)
        : graph_(graph), options_(options), reports_(by_name(options.passes)) {
        std::size_t name = 0, label = 0;
        for (const PassNode& pass : graph.passes) name = std::max(name, std::min(kMostLetters, full_name(pass).size()));
        for (const PassEdge& edge : graph.edges) label = std::max(label, label_of(edge).size());
        sizes_.node_width = std::max(112.0, static_cast<double>(name) * (kLetter + 1) + 30);
        sizes_.gap_x = 58 + static_cast<double>(label) * kLetter;
        layout_ = lay_out(graph, sizes_);
        for (const PassReport& pass : options.passes) most_ms_ = std::max(most_ms_, pass.mean_ms());
        top_ = options.title.empty() ? kPageMargin : 72;
    }

    std::string draw() {
        header();
        put("<g transform=\"translate({} {})\">\n", kPageMargin, top_);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) draw_edge(graph_.edges[i], layout_.lines[i]);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) draw_label(graph_.edges[i], layout_.lines[i]);
        for (std::size_t i = 0; i < graph_.passes.size(); ++i) draw_pass(i);
        put("</g>\n");
        legend();
        put("</svg>\n");
        return std::move(svg_);
    }

private:
    template <class... Arguments>
    void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
    }

    double width() const { return std::max(layout_.width, 460.0) + 2 * kPageMargin; }
    double height() const { return top_ + std::max(layout_.height, 20.0) + kLegendHeight + kPageMargin; }

    void header() {
        put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"schedule\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
            "width=\"{0:.0f}\" height=\"{1:.0f}\">\n<style>{2}</style>\n",
            width(), height(), kScheduleStyle);
        for (const char* kind : {"head", "order-head"})
            put("<marker id=\"schedule-{0}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                "markerHeight=\"7\" orient=\"auto\"><path class=\"{0}\" d=\"M0 .5L8 4L0 7.5z\"/></marker>\n",
                kind);
        put("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
        if (!options_.title.empty())
            put("<text class=\"title\" x=\"{0}\" y=\"32\">{1}</text>\n<text class=\"sub\" x=\"{0}\" "
                "y=\"52\">{2}</text>\n",
                kPageMargin, xml_text(options_.title, 90), xml_text(options_.subtitle, 160));
        if (graph_.passes.empty())
            put("<text class=\"sub\" x=\"{}\" y=\"{}\">there are no passes</text>\n", kPageMargin, top_ + 14);
    }

    void draw_edge(const PassEdge& edge, const std::vector<LayoutPoint>& line) {
        std::string path = fmt::format("M{:.0f} {:.0f}", line[0].x, line[0].y);
        for (std::size_t i = 1; i < line.size(); ++i) {
            const LayoutPoint &from = line[i - 1], &to = line[i];
            const double middle = (from.x + to.x) / 2;
            if (i % 2 == 1)  // odd pieces lead to the next column, and even pieces through a gap in a column
                path += fmt::format("C{0:.0f} {1:.0f} {0:.0f} {2:.0f} {3:.0f} {2:.0f}", middle, from.y, to.y, to.x);
            else
                path += fmt::format("H{:.0f}", to.x);
        }
        const std::string why = edge.on.empty() ? "the order that was asked for" : concat("both use ", joined(edge.on));
        put("<path class=\"edge{}\" marker-end=\"url(#schedule-{})\" d=\"{}\"><title>{}</title></path>\n",
            edge.is_ordered ? " order" : "", edge.is_ordered ? "order-head" : "head", path,
            xml_text(concat(graph_.passes[edge.to].name, " waits for ", graph_.passes[edge.from].name, ": ", why),
                     400));
    }

    /// Draws a label in the first space between columns that the line crosses, below existing labels.
    void draw_label(const PassEdge& edge, const std::vector<LayoutPoint>& line) {
        const std::string text = label_of(edge);
        if (text.empty()) return;
        const double x = (line[0].x + line[1].x) / 2;
        double y = (line[0].y + line[1].y) / 2 + 4;
        const auto is_taken = [&](const LayoutPoint& other) { return other.x == x && std::abs(other.y - y) < 12; };
        while (std::ranges::any_of(labels_, is_taken)) y += 3;
        labels_.push_back({x, y});
        put("<text class=\"on\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", x, y,
            xml_text(text, 2 * kMostLetters));
    }

    void draw_pass(std::size_t number) {
        const PassNode& pass = graph_.passes[number];
        const auto report = reports_.find(pass.name);
        const PassReport* const cost = report == reports_.end() ? nullptr : report->second;
        const std::string time = time_text(cost);
        std::string name = full_name(pass);
        if (name.size() > kMostLetters) name = concat(utf8_start(name, kMostLetters - 1), "…");
        put("<g class=\"pass{}\" transform=\"translate({:.0f} {:.0f})\"><title>{}</title>"
            "<rect class=\"box\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"7\"/>"
            "<rect x=\"6\" y=\"6\" width=\"4\" height=\"{:.0f}\" rx=\"2\" fill=\"{}\"/>",
            cost != nullptr && !cost->enabled ? " off" : "", layout_.nodes[number].x, layout_.nodes[number].y,
            xml_text(concat(full_name(pass), "; reads ", pass.reads.empty() ? "nothing" : joined(pass.reads),
                            "; writes ", pass.writes.empty() ? "nothing" : joined(pass.writes)),
                     600),
            sizes_.node_width, sizes_.node_height, sizes_.node_height - 12, kind_color(number));
        put("<text class=\"name\" x=\"18\" y=\"{}\">{}</text>", time.empty() ? 28 : 20,
            xml_text(name, 2 * kMostLetters));
        if (!time.empty()) put("<text class=\"time\" x=\"18\" y=\"36\">{}</text>", xml_text(time, 40));
        if (cost != nullptr && cost->enabled && cost->num_runs != 0 && most_ms_ > 0)
            put("<rect class=\"track\" x=\"{0:.0f}\" y=\"30\" width=\"32\" height=\"4\" rx=\"2\"/>"
                "<rect x=\"{0:.0f}\" y=\"30\" width=\"{1:.1f}\" height=\"4\" rx=\"2\" fill=\"{2}\"/>",
                sizes_.node_width - 42, 32 * std::min(1.0, cost->mean_ms() / most_ms_), kind_color(number));
        put("</g>\n");
    }

    void legend() {
        const double y = height() - kPageMargin;
        put("<path class=\"edge\" d=\"M{0} {1}h28\"/><text class=\"sub\" x=\"{2}\" y=\"{3}\">waits: both use it, one "
            "writes</text>\n<path class=\"edge order\" d=\"M{4} {1}h28\"/><text class=\"sub\" x=\"{5}\" "
            "y=\"{3}\">waits: "
            "order asked for</text>\n",
            kPageMargin, y - 4, kPageMargin + 36, y, kPageMargin + 230, kPageMargin + 266);
    }

    const ScheduleGraph& graph_;
    const SchedulePictureOptions& options_;
    const ReportsByName reports_;
    LayoutSizes sizes_;
    ScheduleLayout layout_;
    double top_ = 0, most_ms_ = 0;
    std::vector<LayoutPoint> labels_;
    std::string svg_;
};

/// Quotes `text` for graphviz.
std::string dot_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : is_utf8(text) ? text : "(not UTF-8)") {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') out += "\\n";
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

void append_ranks(const ScheduleGraph& graph, std::string& dot) {
    std::map<std::uint32_t, std::string> levels;
    for (std::size_t i = 0; i < graph.passes.size(); ++i) levels[graph.passes[i].level] += concat(" p", i, ";");
    for (const auto& [level, passes] : levels) dot += concat("    { rank=same;", passes, " }\n");
}

}  // namespace

std::string schedule_svg(const ScheduleGraph& graph, const SchedulePictureOptions& options) {
    return ScheduleWriter(graph, options).draw();
}

std::string schedule_dot(const ScheduleGraph& graph, const SchedulePictureOptions& options) {
    const ReportsByName reports = by_name(options.passes);
    std::string dot =
        "digraph schedule {\n    rankdir=LR;\n    node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
        "    edge [fontname=\"Helvetica\", fontsize=10];\n";
    if (!options.title.empty()) dot += concat("    label=", dot_text(options.title), ";\n    labelloc=t;\n");
    for (std::size_t i = 0; i < graph.passes.size(); ++i) {
        const auto report = reports.find(graph.passes[i].name);
        const std::string time = report == reports.end() ? std::string() : time_text(report->second);
        dot += concat("    p", i,
                      " [label=", dot_text(concat(full_name(graph.passes[i]), time.empty() ? "" : "\n", time)), "];\n");
    }
    append_ranks(graph, dot);
    for (const PassEdge& edge : graph.edges)
        dot += concat("    p", edge.from, " -> p", edge.to, " [label=", dot_text(joined(edge.on)),
                      edge.is_ordered ? ", style=dashed" : "", "];\n");
    return dot + "}\n";
}

}  // namespace shoal
