// What another project does first: it includes public headers, links one library, and gets answers.

#include <shoal/base/text.h>
#include <shoal/components/properties.h>
#include <shoal/entity/entity_manager.h>
#include <shoal/plugin/plugins.h>
#include <shoal/store/field_path.h>
#include <shoal/transform/transform.h>
#include <shoal/world/world.h>

#include <array>
#include <cstdio>

/// A store of the other project: it inherits from what is in the library.
class Lamps final : public shoal::Store {
public:
    Lamps(shoal::EntityManager& entities, shoal::PagePool& pool)
        : rows(shoal::schema_of<shoal::Transform>(), entities, pool) {}

    std::span<const shoal::Schema* const> schemas() const override { return rows.schemas(); }
    shoal::Status spawn(const shoal::SpawnBatch& batch) override { return rows.spawn(batch); }
    void drop(std::span<const shoal::Entity> entities) override { rows.remove(entities); }
    void settle(const shoal::SettleContext& context) override { rows.settle(context); }
    std::span<const shoal::Table* const> tables() const override { return rows.tables(); }
    std::size_t statistics(std::span<shoal::StoreStatistics> out) const override { return rows.statistics(out); }

    shoal::OwnedRows rows;
};

/// Loads a plugin that was built out of tree, and lets it turn a body.
bool turns_by_plugin(const char* path) {
    shoal::EntityManager entities;
    shoal::World world(entities);
    shoal::Plugins plugins(world);
    if (shoal::Status status = plugins.load(path); !status) return std::puts(status.message().data()), false;
    std::array<shoal::Entity, 1> body;
    shoal::Store* const spins = world.directory().find(shoal::ComponentId("spin"));
    if (spins == nullptr || !entities.create(body) || !spins->add_values(*spins->schemas()[0], body, {})) return false;
    world.step(0.5f);
    const auto angle = world.get<float>(body[0], "spin.angle");
    return angle && *angle == 0.5f;
}

int main(int argc, char** argv) {
    if (argc > 1 && !turns_by_plugin(argv[1])) return 10;
    shoal::StringTable names;
    const shoal::Result<shoal::StringId> reef = names.intern("reef");
    if (!reef || names.text(*reef) != "reef") return 1;

    shoal::EntityManager entities;
    std::array<shoal::Entity, 3> stones;
    if (shoal::Status status = entities.create(stones); !status) return 2;
    if (!entities.alive(stones[2]) || entities.alive(shoal::kNullEntity)) return 3;

    // What is behind this needs every library that shoal is linked with.
    shoal::PagePool pool;
    shoal::TransformManager transforms(entities, pool);
    const shoal::Transform locals[] = {{.position = {1, 2, 3}}, {.position = {0, 0, 4}}, {.position = {0, 5, 0}}};
    const std::array<std::uint32_t, 3> parents = {0xFFFFFFFF, 0, 1};
    if (!transforms.add(stones, locals, parents)) return 5;
    if (transforms.world_position(transforms.instance(stones[2])) != shoal::Vec3{1, 7, 7}) return 6;

    Lamps lamps(entities, pool);
    if (!lamps.rows.reserve(1, stones[0].index())) return 7;
    lamps.rows.append(stones[0]);
    shoal::ComponentDirectory directory(entities);
    if (!directory.add(lamps)) return 8;
    const auto height = shoal::FieldPath::find_in(directory, "transform.position.z");
    if (!height || !height->write(stones[0], 2.5) || height->read(stones[0])->to_text() != "2.5") return 8;

    shoal::PropertyManager properties(entities, pool);
    if (!properties.set(stones[0], "depth", 2.5f)) return 9;
    const shoal::Result<float> depth = properties.get<float>(stones[0], "depth");
    if (!depth || *depth != 2.5f) return 9;

    if (entities.destroy(stones) != 3 || entities.alive(stones[0])) return 4;

    std::puts(shoal::concat("shoal ", SHOAL_VERSION_MAJOR, ".", SHOAL_VERSION_MINOR, " works",
                            SHOAL_CHECKED ? " with checks" : "")
                  .c_str());
    return 0;
}
