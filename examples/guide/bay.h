#pragma once
// The result of step 6, which step 7 uses: the bay has tiles, rocks and bullets are in a database, and hits are events.

#include "ship.h"

#include <shoal/database/grid_zones.h>

namespace game {
using namespace shoal;

// [guide/tiles]
inline const GridZones kTiles({.origin = {-kBay / 2, -kBay / 2, 0}, .tile_size = 25, .num_x = 8, .num_y = 8});
struct Hit {
    Entity bullet, rock;
};
// [guide/tiles]

constexpr const char* kRock = "components = { rock = { size = 3 }  body = { velocity = [2 1 0] } }";

inline void add_hitting(World& world) {
    // [guide/hit_events]
    Database& sea = world.database();
    Events<Hit>& hits = world.events<Hit>();
    const auto bullets = query<Read<&Body::position>, With<Bullet>>(sea);
    const auto rocks = query<Read<&Body::position>, Read<&Rock::size>>(sea);
    world.schedule().add("hit", bullets, {reads<&Rock::size>(sea), writes(hits)},
                         [&hits, rocks](Entity bullet, Vec3 at) {
                             ZoneSet near;
                             kTiles.touch_sphere(at, 4, near);  // no rock is larger
                             rocks.in(near).for_each([&](Entity rock, Vec3 centre, float size) {
                                 if (length(centre - at) <= size) hits.write({bullet, rock});
                             });
                         });
    world.schedule().add("die", {reads(hits)}, [&](PassContext&) {
        for (const Hit& hit : hits.read()) {
            world.commands().destroy(hit.bullet);
            world.commands().destroy(hit.rock);
        }
    });
    // [guide/hit_events]
}

inline void add_crossing(World& world) {
    // [guide/cross]
    const auto bodies = query<Read<&Body::position>>(world.database());
    world.schedule().add("cross", {reads<&Body::position>(world.database())}, [bodies](PassContext& frame) {
        bodies.for_each_batch(frame.executor, [](Commands& commands, const auto& batch) {
            const auto positions = batch.template column<&Body::position>();
            for (std::size_t row = 0; row < batch.num_rows(); ++row)
                if (const Zone tile = kTiles.zone_of(positions[row]); tile != batch.zone())
                    commands.move(batch.entities()[row], tile);
        });
    });
    // [guide/cross]
}

/// Spawns the ship, spawns rocks all over the bay, and adds the passes.
inline Ship start(World& world, std::uint32_t num_rocks) {
    // [guide/database]
    Database& sea = world.database();
    world.transforms({.mode = TransformMode::kDeferred});
    (void)sea.archetype<Body, Rock, Gun, Bullet>();  // the database keeps these
    sea.spawn_into_tiles<&Body::position>(kTiles);

    std::vector<RootPose> scattered(num_rocks);
    for (RootPose& pose : scattered)
        pose.position = {(world.random().unit() - 0.5f) * kBay, (world.random().unit() - 0.5f) * kBay, 0};
    if (!world.spawn(*Blob::load(compile("rock", kRock)), {.copies = num_rocks, .root_poses = scattered})) std::abort();
    // [guide/database]
    const Ship made = spawn_ship(world);
    add_moving(world);
    add_crossing(world);
    add_steering(world, made);
    add_shooting(world);
    add_hitting(world);
    return made;
}

}  // namespace game
