// The entities in a report: the number of entities with each set of component types, and their positions.

#include "inspect/html_sections.h"
#include "inspect/palette.h"
#include "inspect/type_sets.h"
#include "shoal/inspect/picture.h"
#include "shoal/inspect/text_table.h"
#include "shoal/save/state_difference.h"
#include "shoal/world/world.h"

#include <algorithm>

namespace shoal {
namespace {

struct SetCount {
    std::string name;
    std::uint64_t num_entities = 0;
};

/// Counts the living entities for each set of component types, and sorts the counts in descending order. Types are in
/// the order of the stores.
std::vector<SetCount> count_sets(const World& world) {
    TypeSets types;
    std::vector<std::uint32_t> set_of;  // by entity index
    for (const Store* store : world.directory().stores())
        for (const Table* table : store->tables())
            for (const Entity entity : table->entities()) {
                if (entity.index() >= set_of.size()) set_of.resize(entity.index() + 1);
                if (world.entities().alive(entity))
                    set_of[entity.index()] = types.with(set_of[entity.index()], table->schema());
            }
    std::vector<SetCount> counts;
    for (const std::string& name : types.names()) counts.push_back({name.empty() ? "no components" : name});
    for (const Entity entity : living_entities(world))
        ++counts[entity.index() < set_of.size() ? set_of[entity.index()] : 0].num_entities;
    std::erase_if(counts, [](const SetCount& count) { return count.num_entities == 0; });
    std::ranges::sort(counts, [](const SetCount& a, const SetCount& b) {
        return a.num_entities != b.num_entities ? a.num_entities > b.num_entities : a.name < b.name;
    });
    return counts;
}

}  // namespace

void write_entities_section(const World& world, HtmlWriter& html) {
    const std::vector<SetCount> counts = count_sets(world);
    html.put_html("<h2 id=\"entities\">Entities</h2>\n");
    html.begin_panel("By component types");
    if (counts.empty()) html.hint("There are none.");
    if (!counts.empty()) {
        HtmlTable table(html, {{"Component types"}, {"Entities", true}});
        for (const SetCount& count : counts)
            table.add_row(
                {{count.name},
                 number_cell(count_text(count.num_entities),
                             static_cast<double>(count.num_entities) / static_cast<double>(counts[0].num_entities))});
        table.end();
    }
    html.end_panel();
}

void write_places_section(const World& world, HtmlWriter& html) {
    const Picture picture =
        draw_world(world, {.title = "Seen from above", .subtitle = "x to the right, y up, in metres"});
    if (picture.num_points == 0) return;
    html.put_html("<h2 id=\"places\">Places</h2>\n<section class=\"panel wide\"><div class=\"scroll picture\">");
    html.put_svg(picture.svg);
    html.put_html("</div></section>\n");
}

}  // namespace shoal
