#include "picture.h"

#include "around.h"
#include "picture_scale.h"

#include <shoal/base/text.h>
#include <shoal/inspect/positions.h>
#include <shoal/inspect/text_table.h>

namespace reef {

using namespace shoal;

namespace {

struct SpeciesLook {
    const char *name, *color;
    float length;  // length in the picture, in metres
};
constexpr SpeciesLook kLooks[kNumSpecies] = {{"sardines", "#bfe3f5", 1.5f},
                                             {"fusiliers", "#5aa9ff", 1.8f},
                                             {"snappers", "#ff8f6b", 2.1f},
                                             {"parrotfish", "#ffd84d", 2.4f}};

constexpr std::string_view kDefinitions =
    "<style>text{font-family:Inter,'Helvetica "
    "Neue',Arial,sans-serif;fill:#cfe6f2}.title{font-size:34px;font-weight:600;"
    "fill:#f3fbff}.sub{font-size:17px;fill:#86aec4}.name{font-size:18px}.count{font-size:15px;fill:#86aec4}"
    ".tiles{stroke:#9fd8f0;stroke-opacity:.07;stroke-width:10}.fish{fill:none;stroke-linecap:round;stroke-width:13;"
    "stroke-opacity:.85}.links{fill:none;stroke:#f4e3c0;stroke-opacity:.45;stroke-width:6}</style>\n"
    "<defs><radialGradient id=\"sea\" cx=\".42\" cy=\".45\" r=\".8\"><stop offset=\"0\" stop-color=\"#12506b\"/>"
    "<stop offset=\".6\" stop-color=\"#0a3047\"/><stop offset=\"1\" stop-color=\"#051b2b\"/></radialGradient>"
    "<radialGradient id=\"sand\"><stop offset=\"0\" stop-color=\"#d9c48c\" stop-opacity=\".75\"/><stop offset=\".55\" "
    "stop-color=\"#4fb39b\" stop-opacity=\".5\"/><stop offset=\"1\" stop-color=\"#2a8f9e\" stop-opacity=\"0\"/>"
    "</radialGradient><radialGradient id=\"bloom\"><stop offset=\"0\" stop-color=\"#b6f06a\" stop-opacity=\".42\"/>"
    "<stop offset=\"1\" stop-color=\"#5fd08a\" stop-opacity=\"0\"/></radialGradient>"
    "<clipPath id=\"plot\"><rect width=\"14000\" height=\"14000\"/></clipPath>"
    "<path id=\"shark\" d=\"M90 0C50 34 -20 30 -72 5L-108 34L-96 0L-108 -34L-72 -5C-20 -30 50 -34 90 0Z\"/></defs>\n";

class Drawing {
public:
    Drawing(const Sea& sea, std::uint64_t most_strokes) : sea_(sea), most_strokes_(most_strokes) {}

    Picture draw() {
        header();
        blooms();
        reefs();
        fish();
        sharks();
        put("</g></g>\n");
        legend();
        put("</svg>\n");
        return std::move(picture_);
    }

private:
    template <class... Parts>
    void put(const Parts&... parts) {
        picture_.svg += concat(parts...);
    }

    void header() {
        put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
            kPageWidth, " ", kPageHeight, "\" width=\"", kPageWidth, "\" height=\"", kPageHeight, "\">\n", kDefinitions,
            "<rect width=\"100%\" height=\"100%\" fill=\"#041421\"/>\n<text class=\"title\" x=\"", kLeft,
            "\" y=\"56\">The reef</text><text class=\"sub\" x=\"", kLeft, "\" y=\"86\">",
            count_text(sea_.cells.num_fish()), " fish in ", kNumTiles, " zones, seen from above after ",
            count_text(sea_.world.frame()), " frames</text>\n<g transform=\"translate(", kLeft, " ", kTop,
            ") scale(.1)\"><g clip-path=\"url(#plot)\">\n<rect width=\"14000\" height=\"14000\" fill=\"url(#sea)\"/>\n"
            "<path class=\"tiles\" d=\"");
        for (std::uint32_t tile = 1; tile < kTilesPerSide; ++tile) {
            const int at = units(static_cast<float>(tile) * kTileSize);
            put("M", at, " 0V14000M0 ", at, "H14000");
        }
        put("\"/>\n");
    }

    void circle(Vec3 place, float radius, std::string_view fill) {
        put("<circle cx=\"", across(place), "\" cy=\"", down(place), "\" r=\"", units(radius), "\" fill=\"", fill,
            "\"/>");
    }

    /// Calls visit(table) for each non-empty table of an archetype.
    template <class Visit>
    void for_each_table(const Archetype& type, Visit&& visit) const {
        for (const DatabaseTable* table : sea_.database.all_tables())
            if (table != nullptr && &table->type() == &type && table->num_rows() != 0) visit(*table);
    }
    template <auto kMember>
    auto column(const DatabaseTable& table) const {
        return table.column<kMember>(sea_.database.find_component<ComponentOf<kMember>>());
    }

    void blooms() {
        for_each_table(sea_.blooms, [&](const DatabaseTable& table) {
            num_blooms_ += table.num_rows();
            for (std::uint32_t row = 0; row < table.num_rows(); ++row)
                circle(column<&Place::position>(table)[row], 1.6f * bloom_radius(column<&Bloom::meals>(table)[row]),
                       "url(#bloom)");
        });
    }

    /// Returns the entities that have `component`, a component type without a C++ type.
    std::span<const Entity> owners_of(std::string_view component) const {
        const Store* store = sea_.world.directory().find(ComponentId(component));
        return store == nullptr ? std::span<const Entity>() : store->tables()[0]->entities();
    }
    Vec3 place_of(Entity entity) const { return sea_.transforms.world_position(sea_.transforms.instance(entity)); }

    /// Draws a line from each entity to its parent.
    void links(std::span<const Entity> carried) {
        put("<path class=\"links\" d=\"");
        for (const Entity entity : carried) {
            const Instance parent = sea_.transforms.parent(sea_.transforms.instance(entity));
            if (!parent) continue;
            const Vec3 from = place_of(entity), to = sea_.transforms.world_position(parent);
            put("M", across(from), " ", down(from), "L", across(to), " ", down(to));
        }
        put("\"/>\n");
    }

    void reefs() {
        for_each_table(sea_.reefs, [&](const DatabaseTable& table) {
            num_reefs_ += table.num_rows();
            for (std::uint32_t row = 0; row < table.num_rows(); ++row)
                circle(column<&Place::position>(table)[row], 1.7f * column<&Reef::radius>(table)[row], "url(#sand)");
        });
        const std::span<const Entity> corals = owners_of("coral"), anemones = owners_of("anemone");
        links(corals);
        links(anemones);
        if (!corals.empty()) {
            const auto colors = find_vec3(*sea_.world.directory().find(ComponentId("coral"))->tables()[0], "colour");
            for (std::uint32_t i = 0; i < corals.size(); ++i) circle(place_of(corals[i]), 0.95f, hex((*colors)[i]));
        }
        for (const Entity anemone : anemones) circle(place_of(anemone), 0.55f, "#ff7fb0");
        put("\n");
    }

    static std::string hex(Vec3 color) {
        std::uint32_t rgb = 0;
        for (const float lane : {color.x, color.y, color.z})
            rgb = rgb << 8 | static_cast<std::uint32_t>(std::clamp(lane, 0.0f, 1.0f) * 255);
        std::string text;
        append_hex(text, rgb, 6);
        return "#" + text.substr(2);
    }

    /// Draws one path per species.
    void fish() {
        std::string strokes[kNumSpecies];
        const std::uint64_t every = sea_.database_rows(sea_.fish) / std::max<std::uint64_t>(most_strokes_, 1) + 1;
        std::uint64_t number = 0;
        for_each_table(sea_.fish, [&](const DatabaseTable& table) {
            const auto position = column<&Place::position>(table);
            const auto velocity = column<&Swim::velocity>(table);
            const auto species = column<&Fish::species>(table);
            for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
                const auto kind = static_cast<std::size_t>(species[row]);
                ++num_fish_[kind];
                if (number++ % every != 0) continue;
                ++picture_.num_strokes;
                const Vec2 v = velocity[row];
                const float scale = kLooks[kind].length / std::max(length_of(v), 0.1f);
                strokes[kind] += concat('M', across(position[row]), ' ', down(position[row]), 'l', units(-v.x * scale),
                                        ' ', units(v.y * scale));
            }
        });
        for (std::size_t kind = 0; kind < kNumSpecies; ++kind)
            put("<path class=\"fish\" stroke=\"", kLooks[kind].color, "\" d=\"", strokes[kind], "\"/>\n");
    }

    void sharks() {
        const std::span<const Entity> remoras = owners_of("remora");
        links(remoras);
        for_each_table(sea_.sharks, [&](const DatabaseTable& table) {
            num_sharks_ += table.num_rows();
            for (const Entity shark : table.entities()) {
                const Matrix3x4& pose = sea_.transforms.world(sea_.transforms.instance(shark));
                put("<use href=\"#shark\" fill=\"#f4f7fa\" stroke=\"#041421\" stroke-width=\"8\" transform=\"matrix(",
                    1.6f * pose.row[0].x, " ", -1.6f * pose.row[1].x, " ", 1.6f * pose.row[1].x, " ",
                    1.6f * pose.row[0].x, " ", across(place_of(shark)), " ", down(place_of(shark)), ")\"/>\n");
            }
        });
        for (const Entity remora : remoras) circle(place_of(remora), 0.45f, "#ff5d5d");
    }

    void legend_line(std::string_view sign, std::string_view name, std::uint64_t count) {
        put("<g transform=\"translate(", kLeft + kPlotSize + 40, " ", legend_y_, ")\">", sign,
            "<text class=\"name\" x=\"34\" y=\"6\">", name, "</text><text class=\"count\" x=\"34\" y=\"28\">",
            count_text(count), "</text></g>\n");
        legend_y_ += 62;
    }

    void legend() {
        for (std::size_t kind = 0; kind < kNumSpecies; ++kind)
            legend_line(concat("<path d=\"M0 6L16 -6\" stroke-width=\"4\" stroke-linecap=\"round\" stroke=\"",
                               kLooks[kind].color, "\"/>"),
                        kLooks[kind].name, num_fish_[kind]);
        const auto dot = [](std::string_view color) {
            return concat("<circle cx=\"8\" r=\"7\" fill=\"", color, "\"/>");
        };
        legend_line("<use href=\"#shark\" transform=\"translate(9) scale(.14)\" fill=\"#f4f7fa\"/>", "sharks",
                    num_sharks_);
        legend_line(dot("#ff5d5d"), "remoras, linked", owners_of("remora").size());
        legend_line(dot("#9fe07a"), "blooms of plankton", num_blooms_);
        legend_line(dot("#d9c48c"), "reefs", num_reefs_);
        legend_line(dot("#dcae6b"), "corals, linked", owners_of("coral").size());
        legend_line(dot("#ff7fb0"), "anemones, linked", owners_of("anemone").size());
        if (const std::uint64_t all = sea_.database_rows(sea_.fish); picture_.num_strokes < all)
            put("<text class=\"count\" x=\"", kLeft + kPlotSize + 40, "\" y=\"", legend_y_, "\">one of ",
                all / std::max<std::uint64_t>(picture_.num_strokes, 1), " fish is drawn</text>\n");
        const float bar = 64 * kUnitsPerMetre / 10;
        put("<path d=\"M", kLeft + kPlotSize + 40, " ", kTop + kPlotSize - 10, "v8h", bar,
            "v-8\" fill=\"none\" stroke=\"#cfe6f2\" stroke-width=\"1.5\"/><text class=\"count\" text-anchor=\"middle\" "
            "x=\"",
            kLeft + kPlotSize + 40 + bar / 2, "\" y=\"", kTop + kPlotSize - 14, "\">64 m: two tiles</text>\n");
    }

    const Sea& sea_;
    std::uint64_t most_strokes_;
    Picture picture_;
    std::uint64_t num_fish_[kNumSpecies] = {};
    std::uint64_t num_sharks_ = 0, num_blooms_ = 0, num_reefs_ = 0;
    float legend_y_ = kTop + 20;
};

}  // namespace

Picture draw(const Sea& sea, std::uint64_t most_strokes) { return Drawing(sea, most_strokes).draw(); }

}  // namespace reef
