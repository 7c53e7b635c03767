// The memory in a report: as boxes, by component type, and by owner.

#include "inspect/html_sections.h"
#include "inspect/palette.h"
#include "inspect/treemap.h"
#include "shoal/inspect/text_table.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr double kBoxesWidth = 1180, kBoxesHeight = 300;  // in pixels
constexpr std::size_t kMostBoxes = 120;

std::string percent_text(std::size_t used, std::size_t committed) {
    return committed == 0 ? std::string() : concat(decimal_text(100 * share_of(used, committed), 0), " %");
}

std::size_t committed_of(const ComponentReport& component) {
    return component.rows.committed_bytes + component.index.committed_bytes;
}

/// Returns the component types that have memory, in descending order of memory.
std::vector<const ComponentReport*> by_memory(const WorldReport& report) {
    std::vector<const ComponentReport*> order;
    for (const ComponentReport& component : report.components)
        if (committed_of(component) != 0) order.push_back(&component);
    std::ranges::sort(order, [](const ComponentReport* a, const ComponentReport* b) {
        return committed_of(*a) != committed_of(*b) ? committed_of(*a) > committed_of(*b) : a < b;
    });
    return order;
}

void write_box(const ComponentReport& component, const TreemapBox& box, std::string_view color, HtmlWriter& html) {
    const std::size_t used = component.rows.used_bytes + component.index.used_bytes;
    const double width = std::max(1.0, box.width - 2), height = std::max(1.0, box.height - 2);
    const double filled = height * std::min(1.0, share_of(used, committed_of(component)));
    html.put(
        "<g transform=\"translate({:.1f} {:.1f})\"><title>{}: {} used of {} committed</title>"
        "<rect class=\"back\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\" fill=\"{}\"/>"
        "<rect class=\"used\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\" fill=\"{}\"/>",
        box.x, box.y, html_text(component.name), bytes_text(used), bytes_text(committed_of(component)), width, height,
        color, height - filled, width, filled, color);
    if (width > 46 && height > 22) {
        const auto letters = static_cast<std::size_t>((width - 14) / 7.2);
        html.put("<text class=\"name\" x=\"7\" y=\"16\">{}</text>", xml_text(component.name, letters));
        if (height > 38) html.put("<text x=\"7\" y=\"31\">{}</text>", bytes_text(committed_of(component)));
    }
    html.put_html("</g>\n");
}

void write_boxes(std::span<const ComponentReport* const> order, HtmlWriter& html) {
    if (order.empty()) return;
    order = order.first(std::min(order.size(), kMostBoxes));
    std::vector<double> sizes;
    for (const ComponentReport* component : order) sizes.push_back(static_cast<double>(committed_of(*component)));
    const std::vector<TreemapBox> boxes = treemap(sizes, kBoxesWidth, kBoxesHeight);
    html.put(
        "<div class=\"picture\"><svg class=\"treemap\" viewBox=\"0 0 {0:.0f} {1:.0f}\" preserveAspectRatio=\"none\" "
        "width=\"100%\">\n",
        kBoxesWidth, kBoxesHeight);
    for (std::size_t i = 0; i < order.size(); ++i) write_box(*order[i], boxes[i], kind_color(i), html);
    html.put_html("</svg></div>\n");
    html.hint("A box is as large as its memory, and filled up to what is used of it.");
}

void write_components(std::span<const ComponentReport* const> order, HtmlWriter& html) {
    HtmlTable table(html, {{"Component"},
                           {"Rows", true},
                           {"Dead", true},
                           {"Bytes/row", true},
                           {"Used", true},
                           {"Committed", true},
                           {"Index", true},
                           {"Wasted", true},
                           {"Full", true},
                           {"Reserved", true}});
    for (std::size_t i = 0; i < order.size(); ++i) {
        const ComponentReport& one = *order[i];
        table.add_row({{one.name, false, -1, kind_color(i)},
                       number_cell(count_text(one.num_rows)),
                       number_cell(count_text(one.num_dead_rows)),
                       number_cell(decimal_text(one.bytes_per_row(), 1)),
                       number_cell(bytes_text(one.rows.used_bytes)),
                       number_cell(bytes_text(one.rows.committed_bytes),
                                   share_of(one.rows.committed_bytes, committed_of(*order[0]))),
                       number_cell(bytes_text(one.index.committed_bytes)),
                       number_cell(bytes_text(one.wasted_bytes())),
                       number_cell(percent_text(one.rows.used_bytes, one.rows.committed_bytes)),
                       number_cell(bytes_text(one.rows.reserved_bytes))});
    }
    table.end();
}

void write_owners(const WorldReport& report, HtmlWriter& html) {
    std::size_t most = 0;
    for (const OwnerReport& owner : report.memory) most = std::max(most, owner.memory.committed_bytes);
    HtmlTable table(html, {{"Owner"}, {"Used", true}, {"Committed", true}, {"Reserved", true}});
    const auto add = [&](const std::string& name, const MemoryUse& memory, double share) {
        table.add_row({{name},
                       number_cell(bytes_text(memory.used_bytes)),
                       number_cell(bytes_text(memory.committed_bytes), share),
                       number_cell(bytes_text(memory.reserved_bytes))});
    };
    for (const OwnerReport& owner : report.memory)
        add(owner.name, owner.memory, share_of(owner.memory.committed_bytes, most));
    add("total", report.total_memory(), -1);
    table.end();
}

}  // namespace

void write_memory_section(const WorldReport& report, HtmlWriter& html) {
    const std::vector<const ComponentReport*> order = by_memory(report);
    html.put_html("<h2 id=\"memory\">Memory</h2>\n");
    html.begin_panel("By component type");
    write_boxes(order, html);
    write_components(order, html);
    html.end_panel();
    html.begin_panel("By owner");
    write_owners(report, html);
    html.end_panel();
}

}  // namespace shoal
