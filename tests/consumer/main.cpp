// What another project does first: it includes public headers, links one library, and gets answers.

#include <shoal/base/string_table.h>
#include <shoal/base/text.h>
#include <shoal/entity/entity_manager.h>
#include <shoal/transform/transform.h>

#include <array>
#include <cstdio>

int main() {
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

    if (entities.destroy(stones) != 3 || entities.alive(stones[0])) return 4;

    std::puts(shoal::concat("shoal ", SHOAL_VERSION_MAJOR, ".", SHOAL_VERSION_MINOR, " works").c_str());
    return 0;
}
