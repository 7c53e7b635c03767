#include "shoal/components/debug_name.h"
#include "shoal/components/tag.h"
#include "shoal/inspect/picture.h"
#include "shoal/inspect/positions.h"
#include "shoal/transform/transform.h"

#include <algorithm>
#include <map>
#include <vector>

namespace shoal {
namespace {

/// Component types that say what an entity is called or where it is, not what it is.
bool is_label(ComponentId id) {
    return id == schema_of<DebugName>().id() || id == schema_of<Tag>().id() || id == schema_of<Transform>().id();
}

/// Sets of component types, each with a layer: grown by one type at a time, in the order of the tables.
class Archetypes {
public:
    Archetypes() { layers_.push_back({"transform", {}, 0}); }

    /// Returns the set that has a type besides those of `set`.
    std::uint32_t with(std::uint32_t set, const Schema& type) {
        if (set != 0 && last_[set] == type.id().hash) return set;                      // it has several of them
        if (set == asked_.first && type.id().hash == asked_.second) return answered_;  // as its neighbours
        const auto [next, is_new] =
            next_.try_emplace({set, type.id().hash}, static_cast<std::uint32_t>(layers_.size()));
        if (is_new) {
            layers_.push_back({set == 0 ? type.name() : layers_[set].name + " + " + type.name(), {}, 0});
            last_.push_back(type.id().hash);
        }
        asked_ = {set, type.id().hash};
        return answered_ = next->second;
    }

    std::vector<PictureLayer> take_layers() {
        std::erase_if(layers_, [](const PictureLayer& layer) { return layer.points.empty(); });
        return std::move(layers_);
    }
    PictureLayer& layer(std::uint32_t set) { return layers_[set]; }

private:
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> next_;
    std::vector<PictureLayer> layers_;       // by set; set 0 is the empty one
    std::vector<std::uint64_t> last_ = {0};  // by set: the type that came last
    std::pair<std::uint32_t, std::uint64_t> asked_ = {0, 0};
    std::uint32_t answered_ = 0;  // for asked_, if its type is not 0
};

/// Calls visit(table) for each table of the world but those of transforms.
template <class Visitor>
void for_each_table(const World& world, Visitor&& visit) {
    for (const Store* store : world.directory().stores())
        if (store != find_transforms(world.directory()))
            for (const Table* table : store->tables()) visit(*table);
}

Vec2 from_above(Vec3 place) { return {place.x, place.y}; }

std::vector<PictureLayer> transform_layers(const World& world, const TransformManager& transforms) {
    Archetypes types;
    std::vector<std::uint32_t> type_of(transforms.num_rows());  // by row
    for_each_table(world, [&](const Table& table) {
        if (is_label(table.schema().id())) return;
        for (const Entity entity : table.entities())
            if (const Instance instance = transforms.instance(entity))
                type_of[instance.row] = types.with(type_of[instance.row], table.schema());
    });
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row) {
        if (!world.entities().alive(transforms.entity({row}))) continue;
        PictureLayer& layer = types.layer(type_of[row]);
        layer.points.push_back(from_above(transforms.world_position({row})));
        layer.entities.push_back(transforms.entity({row}));
    }
    return types.take_layers();
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
        std::vector<Vec2> points;
        std::vector<Entity> entities;
        for (std::uint32_t row = 0; row < table.num_rows(); ++row) {
            const Entity owner = table.entities()[row];
            if (!world.entities().alive(owner) || (transforms != nullptr && transforms->has(owner))) continue;
            points.push_back(from_above((*positions)[row]));
            entities.push_back(owner);
        }
        if (points.empty()) return;
        auto layer = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(num_types), layers.end(), has_name);
        if (layer == layers.end()) layer = layers.insert(layers.end(), PictureLayer{table.schema().name(), {}, 0});
        layer->points.insert(layer->points.end(), points.begin(), points.end());
        layer->entities.insert(layer->entities.end(), entities.begin(), entities.end());
    });
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
