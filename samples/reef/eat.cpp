// Hungry fish feed on blooms of plankton.
//
//     graze     feeds the hungry fish in a bloom, one meal each; removes empty blooms
//     digest    makes fed fish hungry again: a bit is flipped, no row moves
//     bloom     adds blooms near fish

#include "around.h"

#include <shoal/command/commands.h>

#include <optional>

namespace reef {

using namespace shoal;

namespace {

constexpr float kLastsLeast = 14, kLastsMost = 30;  // duration of a meal in seconds

/// Feeds the hungry fish in a bloom. Returns the number of meals left.
float feed(const Sea& sea, Commands& commands, Vec2 centre, float meals, std::uint64_t frame) {
    const float radius = bloom_radius(meals);
    sea.cells.for_each_near(centre, radius, [&](std::uint32_t fish, Zone tile) {
        if (meals < 1 || sea.cells.is_hungry[fish] == 0) return;
        if (length_of(Vec2{sea.cells.x[fish], sea.cells.y[fish]} - centre) > radius) return;
        const Entity entity = sea.database.find_table(sea.fish, tile)->entities()[sea.cells.row[fish]];
        const float lasts = Random(sea.key(entity) ^ frame << 32).unit() * (kLastsMost - kLastsLeast) + kLastsLeast;
        commands.add(entity, Sated{lasts});
        meals -= 1;
    });
    return meals;
}

/// Returns a place near a random fish, or a random place if there are no fish. If another machine must find the place,
/// returns nothing.
std::optional<Vec3> near_some_fish(const Sea& sea, Random& random) {
    constexpr float kWithin = 50;
    const Vec2 place = {(random.unit() - 0.5f) * kSeaSize, (random.unit() - 0.5f) * kSeaSize};
    const std::uint32_t num_fish = count_fish(sea);
    if (num_fish == 0) {
        const Vec3 anywhere{place.x, place.y, -3};
        return sea.is_own(sea.tiles.zone_of(anywhere)) ? std::optional(anywhere) : std::nullopt;
    }
    const auto [tile, number] = find_fish(sea, random.below(num_fish));
    if (!sea.is_own(tile)) return std::nullopt;
    const std::uint32_t fish = sea.cells.begin_of(tile * kCellsPerTile) + number;
    const Vec2 near = Vec2{sea.cells.x[fish], sea.cells.y[fish]} + place * (kWithin / kSeaSize);
    return Vec3{near.x, near.y, -3};
}

void add_grazing(Sea& sea) {
    sea.world.schedule().add(
        "graze", query<Write<&Bloom::meals>, Read<&Place::position>>(sea.database).in(sea.own()), {reads(sea.cells)},
        [&sea](const PassContext& context, Commands& commands, Entity bloom, float& meals, Vec3 position) {
            meals = feed(sea, commands, {position.x, position.y}, meals, context.frame);
            if (meals < 1) commands.destroy(bloom);
        });
}

}  // namespace

void add_eating(Sea& sea) {
    add_grazing(sea);
    sea.world.schedule().add("digest", query<Write<&Sated::left>>(sea.database).in(sea.own()),
                             [](Commands& commands, Entity fish, float& left) {
                                 left -= kFrameSeconds;
                                 if (left <= 0) commands.remove<Sated>(fish);
                             });
    sea.world.schedule().add("bloom", {reads(sea.cells)}, [&sea](PassContext& context) {
        Commands& commands = sea.database.commands();
        Random random(sea.options.seed ^ context.frame << 32);
        std::uint64_t now = 0;
        for (const std::uint64_t some : sea.blooms_of_zone) now += some;
        for (const std::uint64_t wanted = sea.num_blooms_wanted(); context.num_rows + now < wanted; ++context.num_rows)
            if (const std::optional<Vec3> place = near_some_fish(sea, random))
                commands.create(sea.tiles.zone_of(*place), Place{*place}, Bloom{});
    });
}

}  // namespace reef
