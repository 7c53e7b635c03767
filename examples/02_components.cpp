// A component is declared once. Its manager keeps every field in a packed column and finds a row by its entity.
#include <shoal/world/world.h>

#include <cstdio>

namespace sea {

enum class Kind : std::uint8_t { kHerring, kShark };
SHOAL_ENUM(Kind, (kHerring, "herring"), (kShark, "shark"))

struct Fish {
    Kind kind = Kind::kHerring;
    float energy = 10;
    shoal::Vec3 position{};
    shoal::Entity prey{};
};
SHOAL_COMPONENT(Fish, kind, (energy, unit("J"), range(0, 1000)), (position, unit("m")), prey)

}  // namespace sea

int main() {
    using sea::Fish;
    shoal::EntityManager entities;
    shoal::World world(entities);
    auto& fish = world.manager<Fish>();

    shoal::Entity school[3];
    if (!entities.create(school) || !fish.add(school, {.energy = 5})) return 1;

    // One look-up gives access to many fields. set() also marks the column as written; there is no other way to write.
    const shoal::Instance shark = fish.instance(school[2]);
    fish.set<&Fish::kind>(shark, sea::Kind::kShark);
    fish.set<&Fish::prey>(shark, school[0]);

    // Columns are packed arrays.
    float total = 0;
    for (const float energy : fish.column<&Fish::energy>()) total += energy;
    std::printf("%u fish, %g J\n", fish.num_rows(), total);

    // Rows stay packed. Entities stay valid, but instances do not.
    fish.remove(school[0]);
    std::printf("row of the shark: %u\n", fish.instance(school[2]).row);
    std::printf("school[0] %s\n", fish.instance(school[0]).is_nil() ? "has no fish component" : "is a fish");

    // The schema describes the declaration for reports, files and tools.
    std::printf("%s\n", fish.core().schema().to_text().c_str());
}
