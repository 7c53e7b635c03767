// Births keep the number of fish in the sea constant.
//
//     births    for each missing fish, one is born next to another of its species

#include "around.h"

#include <shoal/command/commands.h>

namespace reef {

using namespace shoal;

namespace {

/// Requests a new fish next to an existing fish. Draws the same random numbers even if another machine creates the
/// fish.
void bear_beside(const Sea& sea, Commands& commands, FishPlace place_of_parent, Random& random) {
    const Cells& cells = sea.cells;
    const Vec2 aside = {random.unit(), random.unit()};
    if (!sea.is_own(place_of_parent.tile)) return;
    const std::uint32_t parent = cells.begin_of(place_of_parent.tile * kCellsPerTile) + place_of_parent.number;
    const Vec2 beside = {cells.x[parent] + aside.x - 0.5f, cells.y[parent] + aside.y - 0.5f};
    // The parent existed at the start of the frame, so its row still exists.
    const DatabaseRow row = {sea.database.find_table(sea.fish, cells.tile_of(parent)), cells.row[parent]};
    const Vec3 place = {beside.x, beside.y, sea.database.get<&Place::position>(row).z};
    const Swim swim{.velocity = {cells.velocity_x[parent], cells.velocity_y[parent]},
                    .speed = sea.database.get<&Swim::speed>(row)};
    commands.create(sea.tiles.zone_of(place), Place{place}, swim, Fish{sea.database.get<&Fish::species>(row)}, Sated{});
}

/// If the sea has no fish, this function requests a fish where a school starts.
void bear_first(const Sea& sea, Commands& commands, Random& random) {
    const Instance school{random.below(sea.schools.num_rows())};
    Vec3 place = sea.transforms.world_position(sea.transforms.instance(sea.schools.entity(school)));
    place += Vec3{random.unit() * 4 - 2, random.unit() * 4 - 2, -6};
    if (!sea.is_own(sea.tiles.zone_of(place))) return;
    commands.create(sea.tiles.zone_of(place), Place{place}, Swim{}, Fish{sea.schools.get<&School::species>(school)},
                    Sated{});
}

}  // namespace

void add_births(Sea& sea) {
    const Database& database = sea.database;
    sea.world.schedule().add(
        "births",
        {reads<&Place::position>(database).in(sea.own()), reads<&Swim::speed>(database).in(sea.own()),
         reads<&Fish::species>(database).in(sea.own()), reads(sea.cells), reads(sea.transforms), reads(sea.schools)},
        [&sea](PassContext& context) {
            Commands& commands = sea.database.commands();
            Random random(~sea.options.seed ^ context.frame << 32);
            const std::uint32_t now = count_fish(sea);
            for (; now + context.num_rows < sea.options.num_fish; ++context.num_rows) {
                if (now == 0)
                    bear_first(sea, commands, random);
                else
                    bear_beside(sea, commands, find_fish(sea, random.below(now)), random);
            }
        });
}

}  // namespace reef
