#pragma once
// Draws where the entities are, as seen from above. The x axis points right and the y axis up, with the same scale.
//
//     +----------------------------------------+
//     | title                                  |
//     | +--------------------------+  o fish   |     an entity with a transform is drawn at its world position, in
//     | |   . ::.                  |  o coral  |     the layer of its archetype, with a thin line to its parent;
//     | |     .::..    o           |           |     others at their vec3 field `position`, in the layer of
//     | +--------------------------+  |--| 50 m|     that component type. Rare layers are on top.
//     +----------------------------------------+
//
// Up to PictureOptions::max_dots points are drawn as dots, starting with the layers that have the fewest points. The
// other layers are drawn as cells, which are brighter where there are more points. The file stays below one megabyte
// for any number of entities.
// Thread: drawing a world is a const call on it.

#include "shoal/world/world.h"

#include <span>
#include <string>
#include <vector>

namespace shoal {

struct PictureOptions {
    std::string title;  ///< any text; characters that SVG does not allow are left out
    std::string subtitle;
    std::uint32_t max_dots = 20'000;
    std::uint32_t max_links = 10'000;  ///< if there are more, only the longest are drawn
};

/// Points of one colour. Units: metres.
struct PictureLayer {
    std::string name;
    std::vector<Vec2> points;
    std::uint64_t num_skipped = 0;   ///< positions that are NaN or infinite
    std::vector<Entity> entities{};  ///< for a layer of a world. Shape: like `points`
};

/// A link from a child to its parent. Units: metres.
struct PictureLink {
    Vec2 child, parent;
};

struct Picture {
    std::string svg;
    std::uint64_t num_points = 0;   ///< in all layers
    std::uint64_t num_skipped = 0;  ///< positions that are NaN or infinite
};

/// For entities with a transform, returns a layer for each set of component types. The sets leave out names, tags and
/// the transform itself. For other entities, returns a layer for each component type with a `position`. Leaves out dead
/// entities and empty layers.
SHOAL_API std::vector<PictureLayer> picture_layers(const World& world);
/// Returns a link for each transform that has a parent.
SHOAL_API std::vector<PictureLink> picture_links(const World& world);

/// Draws layers over links. Points that are NaN or infinite are skipped and counted.
SHOAL_API Picture draw_picture(std::span<const PictureLayer> layers, const PictureOptions& options = {},
                               std::span<const PictureLink> links = {});

/// Draws the layers and links of a world.
SHOAL_API Picture draw_world(const World& world, const PictureOptions& options = {});

}  // namespace shoal
