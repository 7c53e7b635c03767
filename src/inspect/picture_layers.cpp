#include "inspect/type_sets.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/tag.h"
#include "shoal/inspect/picture.h"
#include "shoal/inspect/positions.h"
#include "shoal/transform/transform.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

/// Whether a component type describes an entity's name or position, and not its kind.
bool is_label(ComponentId id) {
    return id == schema_of<DebugName>().id() || id == schema_of<Tag>().id() || id == schema_of<Transform>().id();
}

/// Calls visit(table) for each table of the world except those of transforms.
template <class Visitor>
void for_each_table(const World& world, Visitor&& visit) {
    for (const Store* store : world.directory().stores())
        if (store != find_transforms(world.directory()))
            for (const Table* table : store->tables()) visit(*table);
}

Vec2 from_above(Vec3 place) { return {place.x, place.y}; }

std::vector<PictureLayer> transform_layers(const World& world, const TransformManager& transforms) {
    TypeSets types;
    std::vector<std::uint32_t> type_of(transforms.num_rows());  // by row
    for_each_table(world, [&](const Table& table) {
        if (is_label(table.schema().id())) return;
        for (const Entity entity : table.entities())
            if (const Instance instance = transforms.instance(entity))
                type_of[instance.row] = types.with(type_of[instance.row], table.schema());
    });
    std::vector<PictureLayer> layers;  // by type set
    for (const std::string& name : types.names()) layers.push_back({name.empty() ? "transform" : name, {}, 0});
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row) {
        if (!world.entities().alive(transforms.entity({row}))) continue;
        PictureLayer& layer = layers[type_of[row]];
        layer.points.push_back(from_above(transforms.world_position({row})));
        layer.entities.push_back(transforms.entity({row}));
    }
    std::erase_if(layers, [](const PictureLayer& layer) { return layer.points.empty(); });
    return layers;
}

}  // namespace

std::vector<PictureLayer> picture_layers(const World& world) {
    const TransformManager* transforms = find_transforms(world.directory());
    std::vector<PictureLayer> layers;
    if (transforms != nullptr) layers = transform_layers(world, *transforms);
    const std::size_t num_types = layers.size();
    for_each_table(world, [&](const Table& table) {
        const std::optional<Vec3Rows> positions = find_vec3(table, "position");
        if (!positions) return;
        const auto has_name = [&](const PictureLayer& layer) { return layer.name == table.schema().name(); };
        auto layer = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(num_types), layers.end(), has_name);
        if (layer == layers.end()) layer = layers.insert(layers.end(), PictureLayer{table.schema().name(), {}, 0});
        // Reserves memory for all rows up front, because growing the vectors would cost more than writing the points.
        std::size_t at = layer->points.size();
        layer->points.resize(at + table.num_rows());
        layer->entities.resize(at + table.num_rows());
        for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
            const Entity owner = table.entities()[row];
            if (!world.entities().alive(owner) || (transforms != nullptr && transforms->has(owner))) continue;
            layer->points[at] = from_above((*positions)[row]);
            layer->entities[at++] = owner;
        }
        layer->points.resize(at);
        layer->entities.resize(at);
    });
    std::erase_if(layers, [](const PictureLayer& layer) { return layer.points.empty(); });
    return layers;
}

std::vector<PictureLink> picture_links(const World& world) {
    std::vector<PictureLink> links;
    const TransformManager* transforms = find_transforms(world.directory());
    if (transforms == nullptr) return links;
    for (std::uint32_t row = 0; row < transforms->num_rows(); ++row)
        if (const Instance parent = transforms->parent({row}))
            if (world.entities().alive(transforms->entity({row})))
                links.push_back(
                    {from_above(transforms->world_position({row})), from_above(transforms->world_position(parent))});
    return links;
}

Picture draw_world(const World& world, const PictureOptions& options) {
    return draw_picture(picture_layers(world), options, picture_links(world));
}

}  // namespace shoal
