// The zones in a report: a map coloured by the number of entities, and a table.

#include "inspect/html_sections.h"
#include "inspect/palette.h"
#include "shoal/inspect/text_table.h"
#include "shoal/inspect/zone_report.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

constexpr double kMapWidth = 1180, kMapHeight = 420;  // in pixels
constexpr std::size_t kMostMapped = 4096;             // zones

/// A zone on the map. Units: metres, or cells of a grid; y up.
struct ZoneBox {
    const ZoneReport* zone;
    double x, y, width, height;
};

/// Returns the boxes of zones as seen from above. If no entity has a position, returns a square grid of the zones in
/// order.
std::vector<ZoneBox> boxes_of(std::span<const ZoneReport> zones, std::span<const ZoneBounds> bounds) {
    std::vector<ZoneBox> boxes;
    for (const ZoneReport& zone : zones)
        if (const Bounds* const box = find_bounds(bounds, zone.zone); box != nullptr) {
            const Vec3 low = box->low, high = box->high;
            boxes.push_back(
                {&zone, double(low.x), double(low.y), double(high.x) - double(low.x), double(high.y) - double(low.y)});
        }
    if (!boxes.empty()) return boxes;
    const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(zones.size()))));
    for (std::size_t i = 0; i < zones.size(); ++i)
        boxes.push_back({&zones[i], double(i % columns) + 0.04, -double(i / columns) - 0.96, 0.92, 0.92});
    return boxes;
}

void write_map(std::span<const ZoneBox> boxes, std::uint64_t most, HtmlWriter& html) {
    double left = boxes[0].x, right = left, bottom = boxes[0].y, top = bottom;
    for (const ZoneBox& box : boxes) {
        left = std::min(left, box.x), right = std::max(right, box.x + box.width);
        bottom = std::min(bottom, box.y), top = std::max(top, box.y + box.height);
    }
    const double scale = std::min(kMapWidth / std::max(1e-6, right - left), kMapHeight / std::max(1e-6, top - bottom));
    const double margin = (kMapWidth - (right - left) * scale) / 2;
    html.put("<div class=\"picture\"><svg class=\"zone-map\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"100%\">\n",
             kMapWidth, kMapHeight);
    for (const ZoneBox& box : boxes) {
        const double width = std::max(3.0, box.width * scale), height = std::max(3.0, box.height * scale);
        const Rgb color = ramp_color(share_of(box.zone->num_entities, most));
        html.put(
            "<g transform=\"translate({:.1f} {:.1f})\"><title>zone {}: {} entities, {} used</title>"
            "<rect width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\" fill=\"rgb({:.0f}, {:.0f}, {:.0f})\"/>",
            margin + (box.x - left) * scale, (top - box.y) * scale - height, box.zone->zone,
            count_text(box.zone->num_entities), bytes_text(box.zone->memory().used_bytes), width, height, color.red,
            color.green, color.blue);
        if (width > 26 && height > 16)
            html.put("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>", width / 2, height / 2 + 4,
                     text_color_on(color), box.zone->zone);
        html.put_html("</g>\n");
    }
    html.put_html("</svg></div>\n");
}

}  // namespace

void write_zones_section(const World& world, HtmlWriter& html) {
    const Database* const database = find_database(world.directory());
    std::vector<ZoneReport> zones;
    if (database != nullptr) zones = report_zones(*database);
    if (zones.empty()) return;
    std::ranges::sort(zones, [](const ZoneReport& a, const ZoneReport& b) {
        return a.num_entities != b.num_entities ? a.num_entities > b.num_entities : a.zone < b.zone;
    });
    std::size_t most = 0, most_committed = 0;
    for (const ZoneReport& zone : zones) {
        most = std::max<std::size_t>(most, zone.num_entities);
        most_committed = std::max(most_committed, zone.memory().committed_bytes);
    }
    html.put_html("<h2 id=\"zones\">Zones</h2>\n");
    html.begin_panel(zones.size() == 1
                         ? std::string("One zone")
                         : concat(count_text(zones.size()), " zones, those with the most entities first"));
    const std::span<const ZoneReport> mapped = std::span(zones).first(std::min(zones.size(), kMostMapped));
    const std::vector<ZoneBounds> bounds = zone_bounds(world);
    const bool has_places =
        std::ranges::any_of(bounds, [](const ZoneBounds& one) { return one.bounds.num_points != 0; });
    const std::vector<ZoneBox> boxes = boxes_of(mapped, bounds);
    if (!boxes.empty()) write_map(boxes, most, html);
    html.hint(concat("A zone is brighter the more entities it has. ",
                     has_places ? "Its box is around the positions of its entities."
                                : "No entity has a position, so zones are in the order of the table.",
                     boxes.size() == zones.size()
                         ? std::string()
                         : concat(' ', count_text(zones.size() - boxes.size()), " zones without positions, or beyond ",
                                  count_text(kMostMapped), ", are not on the map.")));
    HtmlTable table(html,
                    {{"Zone", true}, {"Entities", true}, {"Used", true}, {"Committed", true}, {"Reserved", true}});
    for (const ZoneReport& zone : zones) {
        const MemoryUse memory = zone.memory();
        table.add_row(
            {number_cell(concat(zone.zone)),
             number_cell(count_text(zone.num_entities), share_of(zone.num_entities, most)),
             number_cell(bytes_text(memory.used_bytes)),
             number_cell(bytes_text(memory.committed_bytes), share_of(memory.committed_bytes, most_committed)),
             number_cell(bytes_text(memory.reserved_bytes))});
    }
    table.end();
    html.end_panel();
}

}  // namespace shoal
