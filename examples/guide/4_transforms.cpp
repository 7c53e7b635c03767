// Step 4: transforms. A ship has a turret with a muzzle. Children move with their parents.
#include "ship.h"

#include <cstdio>
#include <vector>

using namespace shoal;
using namespace game;

namespace {

void print(const char* when, const TransformManager& transforms, Entity entity) {
    const Vec3 place = transforms.world_position(transforms.instance(entity));
    std::printf("%-20s %6.2f %6.2f %6.2f\n", when, double(place.x), double(place.y), double(place.z));
}

}  // namespace

int main() {
    EntityManager entities;
    World world(entities);
    world.manager<Body>();
    world.manager<Gun>();
    // [guide/transforms]
    TransformManager& transforms = world.transforms({.mode = TransformMode::kDeferred});
    const std::vector<std::byte> bytes = compile("ship", kShip);
    const Result<Blob> blob = Blob::view(bytes);
    if (!blob) return 1;
    const Result<Spawned> spawned = world.spawn(*blob);
    if (!spawned) return 1;
    const Ship ship{spawned->find("ship"), spawned->find("turret"), spawned->find("muzzle")};
    // [guide/transforms]
    print("muzzle, at first", transforms, ship.muzzle);

    add_moving(world);
    add_steering(world, ship);
    for (int frame = 0; frame < 600; ++frame) world.step(1.0f / 60);
    print("hull, later", transforms, ship.hull);
    print("muzzle, later", transforms, ship.muzzle);

    // [guide/unlink]
    transforms.unlink(transforms.instance(ship.turret));  // the turret comes off, and stays where it is
    for (int frame = 0; frame < 60; ++frame) world.step(1.0f / 60);
    // [guide/unlink]
    print("hull, at last", transforms, ship.hull);
    print("turret, left behind", transforms, ship.turret);
    return 0;
}
