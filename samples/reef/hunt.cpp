// Sharks chase the nearest fish and eat the fish that they catch.
//
//     hunt     sets the urges of sharks, and asks for the destruction of the fish they caught

#include "around.h"

#include <shoal/command/commands.h>

namespace reef {

using namespace shoal;

namespace {

constexpr float kScent = 20, kReach = 1.5f;  // metres
constexpr float kChase = 7, kCruise = 0.6f;  // metres per second squared

struct Prey {
    Entity entity;
    Vec2 way;
    float distance = kScent;
};

Prey nearest_fish(const Sea& sea, Vec2 place) {
    Prey prey;
    sea.cells.for_each_near(place, kScent, [&](std::uint32_t fish, Zone tile) {
        const Vec2 way = Vec2{sea.cells.x[fish], sea.cells.y[fish]} - place;
        const float distance = length_of(way);
        if (distance >= prey.distance) return;
        prey = {sea.database.find_table(sea.fish, tile)->entities()[sea.cells.row[fish]], way, distance};
    });
    return prey;
}

/// Returns the urge of a shark without prey. The shark keeps its speed and avoids reefs and the shore.
Vec2 cruise(const Sea& sea, Vec2 place, Vec2 velocity, float speed) {
    Around around;
    around.look(sea, sea.tiles.zone_of({place.x, place.y, 0}));
    const float now = length_of(velocity);
    Vec2 urge = now > 0 ? velocity * (kCruise * (speed / now - 1)) : Vec2{kCruise, kCruise};
    urge += Vec2{-velocity.y, velocity.x} * 0.1f;  // turns in wide circles
    return urge + push_of_reefs(around.reefs, place) + push_of_shore(place);
}

}  // namespace

void add_hunting(Sea& sea) {
    Database& database = sea.database;
    const auto sharks = query<Write<&Swim::urge>, Write<&Hunter::rest>, Read<&Hunter::appetite>, Read<&Place::position>,
                              Read<&Swim::velocity>, Read<&Swim::speed>>(database)
                            .in(sea.own());
    sea.world.schedule().add("hunt", sharks,
                             {reads<&Place::position>(database), reads<&Reef::radius>(database),
                              reads<&Bloom::meals>(database), reads(sea.cells)},
                             [&sea](const PassContext& context, Commands& commands, auto&& urge, float& rest,
                                    float appetite, Vec3 position, Vec2 velocity, float speed) {
                                 const Vec2 place = {position.x, position.y};
                                 Vec2 wanted = cruise(sea, place, velocity, speed);
                                 rest = std::max(rest - context.dt, 0.0f);
                                 if (const Prey prey = nearest_fish(sea, place);
                                     rest == 0 && prey.entity != kNullEntity) {
                                     wanted += prey.way * (kChase / std::max(prey.distance, 1e-3f));
                                     if (prey.distance < kReach) {
                                         commands.destroy(prey.entity);
                                         rest = appetite;
                                     }
                                 }
                                 urge = wanted;
                             });
}

}  // namespace reef
