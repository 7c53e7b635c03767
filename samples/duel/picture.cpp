#include "picture.h"

#include <shoal/base/text.h>
#include <shoal/inspect/text_table.h>
#include <shoal/save/state_hash.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace duel {

using namespace shoal;

namespace {

// Sizes in pixels. Inside a plot, one unit is a tenth of a pixel, so that coordinates are integers.
constexpr int kPlotSize = 800, kLeft = 40, kTop = 110, kGap = 40;
constexpr int kPageWidth = 2 * kLeft + 2 * kPlotSize + kGap, kPageHeight = kTop + kPlotSize + 70;
constexpr float kUnitsPerMetre = kPlotSize / (2 * kShore) * 10;
constexpr float kShipLength = 2.4f, kShotLength = 1.2f;  // length in the picture, in metres

constexpr std::string_view kColors[kNumFleets] = {"#ff7a66", "#67b7ff"};
constexpr std::string_view kShotColors[kNumFleets] = {"#ffe08a", "#d9f6ff"};

constexpr std::string_view kDefinitions =
    "<style>text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#cfd8f2}.title{font-size:32px;"
    "font-weight:600;fill:#f3f6ff}.sub{font-size:17px;fill:#8b99c4}.hash{font-size:18px;font-family:monospace}"
    ".ship{fill:none;stroke-linecap:round;stroke-width:9;stroke-opacity:.85}"
    ".shot{fill:none;stroke-linecap:round;stroke-width:7}</style>\n"
    "<defs><radialGradient id=\"space\"><stop offset=\"0\" stop-color=\"#1a2350\"/>"
    "<stop offset=\"1\" stop-color=\"#0b1030\"/></radialGradient></defs>\n";

int units(float metres) { return static_cast<int>(std::lround(metres * kUnitsPerMetre)); }

class Drawing {
public:
    explicit Drawing(std::uint64_t most_strokes) : most_strokes_(std::max<std::uint64_t>(most_strokes, 1)) {}

    Picture draw(const Arena& left, const Arena& right) {
        put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
            kPageWidth, " ", kPageHeight, "\" width=\"", kPageWidth, "\" height=\"", kPageHeight, "\">\n", kDefinitions,
            "<rect width=\"100%\" height=\"100%\" fill=\"#060818\"/>\n<text class=\"title\" x=\"", kLeft,
            "\" y=\"54\">The duel</text><text class=\"sub\" x=\"", kLeft, "\" y=\"86\">",
            count_text(left.ships.num_rows()), " ships and ", count_text(left.shots.num_rows()), " shots after ",
            count_text(left.world.frame()), " frames, as each peer has them</text>\n");
        world(left, kLeft, "first peer");
        world(right, kLeft + kPlotSize + kGap, "second peer");
        put("</svg>\n");
        return std::move(picture_);
    }

private:
    template <class... Parts>
    void put(const Parts&... parts) {
        picture_.svg += concat(parts...);
    }

    void world(const Arena& arena, int x, std::string_view name) {
        put("<g transform=\"translate(", x, " ", kTop, ")\"><rect width=\"", kPlotSize, "\" height=\"", kPlotSize,
            "\" rx=\"10\" fill=\"url(#space)\"/>\n<g transform=\"scale(.1)\">\n");
        strokes<&Ship::position, &Ship::velocity, &Ship::fleet>(arena.ships, "ship", kColors, kShipLength);
        strokes<&Shot::position, &Shot::velocity, &Shot::fleet>(arena.shots, "shot", kShotColors, kShotLength);
        std::string hash;
        append_hex(hash, state_hash(arena.world));
        put("</g><text class=\"sub\" x=\"2\" y=\"", kPlotSize + 38, "\">", name,
            "</text><text class=\"hash\" text-anchor=\"end\" x=\"", kPlotSize - 2, "\" y=\"", kPlotSize + 38, "\">",
            hash, "</text></g>\n");
    }

    /// Draws one path per fleet.
    template <auto kPosition, auto kVelocity, auto kFleet, class Rows>
    void strokes(const Rows& rows, std::string_view style, const std::string_view (&colors)[kNumFleets], float size) {
        const auto position = rows.template column<kPosition>();
        const auto velocity = rows.template column<kVelocity>();
        const auto fleet = rows.template column<kFleet>();
        const std::uint64_t every = (rows.num_rows() + most_strokes_ - 1) / most_strokes_;
        std::string paths[kNumFleets];
        for (std::uint64_t at = 0; at < rows.num_rows(); at += std::max<std::uint64_t>(every, 1)) {
            const auto row = static_cast<std::uint32_t>(at);
            const Vec2 place = position[row], v = velocity[row];
            const float scale = size / std::max(length(v), 0.1f);
            paths[std::size_t(fleet[row])] += concat('M', units(place.x + kShore), ' ', units(kShore - place.y), 'l',
                                                     units(-v.x * scale), ' ', units(v.y * scale));
            picture_.num_strokes += style == "ship";
        }
        for (std::size_t i = 0; i < kNumFleets; ++i)
            put("<path class=\"", style, "\" stroke=\"", colors[i], "\" d=\"", paths[i], "\"/>\n");
    }

    std::uint64_t most_strokes_;
    Picture picture_;
};

}  // namespace

Picture draw(const Arena& left, const Arena& right, std::uint64_t most_strokes) {
    return Drawing(most_strokes).draw(left, right);
}

}  // namespace duel
