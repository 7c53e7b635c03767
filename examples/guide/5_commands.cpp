// Step 5: commands. Passes use commands to create bullets and destroy rocks that are hit. They take effect when the
// world settles.
#include "ship.h"

#include <cstdio>
#include <vector>

using namespace shoal;
using namespace game;

namespace {

/// A bullet that touches a rock is destroyed together with the rock. Large rocks break into two halves.
void add_hitting(World& world) {
    // [guide/hit]
    auto& bodies = world.manager<Body>();
    auto& sizes = world.manager<Rock>();
    const auto bullets = world.query<Read<&Body::position>, With<Bullet>>();
    const auto rocks = world.query<Read<&Body::position>, Read<&Rock::size>>();
    world.schedule().add("hit", {reads(bodies), reads(sizes)}, [bullets, rocks](PassContext&) {
        bullets.for_each([&](Commands& commands, Entity bullet, const Vec3& at) {
            rocks.for_each([&](Entity rock, const Vec3& centre, float size) {
                if (length(centre - at) > size) return;
                commands.destroy(bullet);
                commands.destroy(rock);
                if (size < 4) return;
                commands.create(Body{centre, {6, 0, 0}}, Rock{size / 2});
                commands.create(Body{centre, {-6, 0, 0}}, Rock{size / 2});
            });
        });
    });
    // [guide/hit]
}

}  // namespace

int main() {
    EntityManager entities;
    World world(entities);
    // [guide/stores]
    auto& bodies = world.manager<Body>();
    auto& rocks = world.manager<Rock>();
    auto& bullets = world.manager<Bullet>();
    world.manager<Gun>();
    TransformManager& transforms = world.transforms({.mode = TransformMode::kDeferred});
    // [guide/stores]
    const Ship ship = spawn_ship(world);
    std::vector<Entity> field(200);
    if (!entities.create(field) || !rocks.add(field, {.size = 4})) return 1;
    for (const Entity rock : field)
        if (!bodies.add(rock, {{world.random().unit() * kBay, world.random().unit() * kBay, 0}, {1, 1, 0}})) return 1;

    add_moving(world);
    add_steering(world, ship);
    add_shooting(world);
    add_hitting(world);
    // [guide/settled]
    for (int second = 1; second <= 30; ++second) {
        for (int frame = 0; frame < 60; ++frame) world.step(1.0f / 60);
        if (second % 10 != 0) continue;
        const SettleCounts& total = world.settle_statistics().total;
        std::printf("after %d s: %u rocks, %u bullets; %d entities made, %d destroyed\n", second, rocks.num_rows(),
                    bullets.num_rows(), int(total.num_created), int(total.num_destroyed));
    }
    // [guide/settled]
    std::printf("%u transforms are left\n", transforms.num_rows());
    return 0;
}
