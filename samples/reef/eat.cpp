// Plankton blooms and feeds hungry fish.
//
//     graze     feeds the hungry fish in a bloom, one meal each; removes empty blooms
//     digest    makes fed fish hungry again: a bit is flipped, no row moves
//     bloom     adds blooms near fish

#include "around.h"

#include <shoal/command/commands.h>

namespace reef {

using namespace shoal;

namespace {

constexpr float kLastsLeast = 14, kLastsMost = 30;  // seconds that a meal lasts

/// Feeds the hungry fish in a bloom and returns how many meals are left.
float feed(const Sea& sea, Commands& commands, Vec2 centre, float meals, std::uint64_t frame) {
    const float radius = bloom_radius(meals);
    sea.cells.for_each_near(centre, radius, [&](std::uint32_t fish, Zone tile) {
        if (meals < 1 || sea.cells.is_hungry[fish] == 0) return;
        if (length_of(Vec2{sea.cells.x[fish], sea.cells.y[fish]} - centre) > radius) return;
        const Entity entity = sea.database.find_table(sea.fish, tile)->entities()[sea.cells.row[fish]];
        const float lasts = Random(entity.id ^ frame << 32).unit() * (kLastsMost - kLastsLeast) + kLastsLeast;
        commands.add(entity, Sated{lasts});
        meals -= 1;
    });
    return meals;
}

/// A random place, for a sea without fish.
Vec3 near_some_fish(const Cells& cells, Random& random) {
    constexpr float kWithin = 50;
    Vec2 place = {(random.unit() - 0.5f) * kSeaSize, (random.unit() - 0.5f) * kSeaSize};
    if (cells.num_fish() != 0) {
        const std::uint32_t fish = random.below(cells.num_fish());
        place = Vec2{cells.x[fish], cells.y[fish]} + place * (kWithin / kSeaSize);
    }
    return {place.x, place.y, -3};
}

void add_grazing(Sea& sea) {
    sea.world.schedule().add(
        "graze", query<Write<&Bloom::meals>, Read<&Place::position>>(sea.database), {reads(sea.cells)},
        [&sea](const PassContext& context, Commands& commands, Entity bloom, float& meals, Vec3 position) {
            meals = feed(sea, commands, {position.x, position.y}, meals, context.frame);
            if (meals < 1) commands.destroy(bloom);
        });
}

}  // namespace

void add_eating(Sea& sea) {
    add_grazing(sea);
    sea.world.schedule().add("digest", query<Write<&Sated::left>>(sea.database),
                             [](Commands& commands, Entity fish, float& left) {
                                 left -= kFrameSeconds;
                                 if (left <= 0) commands.remove<Sated>(fish);
                             });
    const auto blooms = query<With<Bloom>>(sea.database);
    sea.world.schedule().add("bloom", {reads(sea.cells)}, [&sea, blooms](PassContext& context) {
        Commands& commands = sea.database.commands();
        Random random(sea.options.seed ^ context.frame << 32);
        const std::uint64_t now = blooms.num_rows(), wanted = sea.num_blooms_wanted();
        for (; context.num_rows + now < wanted; ++context.num_rows) {
            const Vec3 place = near_some_fish(sea.cells, random);
            commands.create(sea.tiles.zone_of(place), Place{place}, Bloom{});
        }
    });
}

}  // namespace reef
