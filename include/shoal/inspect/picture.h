#pragma once
// A picture of where the entities are, seen from above: x to the right, y up, one metre equally long in both.
//
//     +----------------------------------------+
//     | title                                  |
//     | +--------------------------+  o fish   |     every component type with a vec3 field `position` is a layer
//     | |   . ::.                  |  o coral  |     with its colour and count; rare ones lie on top
//     | |     .::..    o           |           |
//     | +--------------------------+  |--| 50 m|
//     +----------------------------------------+
//
// Up to PictureOptions::max_dots points are drawn as dots, the rarest layers first; the other layers as cells that are
// brighter where there are more points. The file stays below one megabyte, whatever is in it.
// Thread: drawing a world is a const call on it.

#include "shoal/world/world.h"

#include <span>
#include <string>
#include <vector>

namespace shoal::inline SHOAL_ABI {

struct PictureOptions {
    std::string title;  ///< any text; what cannot stand in an SVG is left out
    std::string subtitle;
    std::uint32_t max_dots = 20'000;
};

/// Points of one colour. Units: metres.
struct PictureLayer {
    std::string name;
    std::vector<Vec2> points;
    std::uint64_t num_skipped = 0;  ///< places that are no numbers
};

struct Picture {
    std::string svg;
    std::uint64_t num_points = 0;   ///< drawn, over all layers
    std::uint64_t num_skipped = 0;  ///< places that are no numbers
};

/// Returns a layer per component type that has a `position`, rows of the dead left out.
SHOAL_API std::vector<PictureLayer> picture_layers(const World& world);

/// Draws layers. Points that are NaN or infinite are skipped and counted.
SHOAL_API Picture draw_picture(std::span<const PictureLayer> layers, const PictureOptions& options = {});

/// draw_picture of picture_layers.
SHOAL_API Picture draw_world(const World& world, const PictureOptions& options = {});

}  // namespace shoal::inline SHOAL_ABI
