#pragma once
// The result of steps 4 and 5, which later steps use: the ship, and the passes that turn its turret and fire.

#include "game.h"

#include <shoal/command/commands.h>
#include <shoal/transform/transform.h>

namespace game {

// [guide/ship]
constexpr const char* kShip = R"(
    name = "ship"
    components = { transform = {}  body = { velocity = [0 3 0] } }
    children = {
        turret = {
            name = "turret"
            components = { transform = { position = [1 0 2] } }
            children = {
                muzzle = { name = "muzzle"  components = { transform = { position = [4 0 0] }  gun = {} } }
            }
        }
    }
)";
// [guide/ship]

struct Ship {
    shoal::Entity hull, turret, muzzle;
};

inline Ship spawn_ship(shoal::World& world) {
    const auto spawned = world.spawn(*shoal::Blob::load(compile("ship", kShip)));
    if (!spawned) std::abort();
    return {spawned->find("ship"), spawned->find("turret"), spawned->find("muzzle")};
}

inline shoal::Quaternion about_z(float radians) { return {0, 0, std::sin(radians / 2), std::cos(radians / 2)}; }

/// Makes the ship's transform follow its body, and turns the turret.
inline void add_steering(shoal::World& world, const Ship& ship) {
    using namespace shoal;
    TransformManager& transforms = world.transforms();
    Store& bodies = *world.directory().find(schema_of<Body>().id());
    // [guide/steer]
    world.schedule().add("steer", {reads<&Body::position>(bodies), writes(transforms)}, [&, ship](PassContext& frame) {
        const Vec3 place = *world.get<&Body::position>(ship.hull);
        transforms.set_position(transforms.instance(ship.hull), place);
        transforms.set_rotation(transforms.instance(ship.turret), about_z(0.5f * float(frame.frame) * frame.dt));
    });
    // [guide/steer]
}

/// Fires guns that are due. Ages bullets and destroys old ones.
inline void add_shooting(shoal::World& world) {
    using namespace shoal;
    // [guide/fire]
    world.schedule().add(
        "fire", world.query<Write<&Gun::wait>, Read<&Gun::period>, Read<&WorldPose::matrix>>(),
        [](const PassContext& frame, Commands& commands, auto&& wait, float period, const Matrix3x4& pose) {
            wait -= frame.dt;
            if (wait > 0) return;
            wait += period;
            const Vec3 muzzle = {pose.row[0].w, pose.row[1].w, 0};
            const Vec3 ahead = {pose.row[0].x, pose.row[1].x, 0};
            commands.create(Body{muzzle, ahead * 40}, Bullet{});
        });
    world.schedule().add("age", world.query<Write<&Bullet::age>>(),
                         [](const PassContext& frame, Commands& commands, Entity bullet, auto&& age) {
                             age += frame.dt;
                             if (age > 2) commands.destroy(bullet);
                         });
    // [guide/fire]
}

}  // namespace game
