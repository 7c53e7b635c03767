// Sharks carry remoras. A shark's transform follows the shark, and the remoras that are linked to the transform move
// with it.
//
//     carry     sets the poses of sharks from their positions and velocities
//     attach    computes the poses of everything linked to them

#include "around.h"

#include <vector>

namespace reef {

using namespace shoal;

namespace {

/// Returns the rotation about the z axis that turns the x axis to `direction`.
Quaternion turned_to(Vec2 direction) {
    const float length = length_of(direction);
    if (length == 0) return {};
    const float cosine = std::clamp(direction.x / length, -1.0f, 1.0f);
    return {0, 0, std::copysign(std::sqrt((1 - cosine) / 2), direction.y), std::sqrt((1 + cosine) / 2)};
}

}  // namespace

void add_carrying(Sea& sea) {
    const auto sharks = query<Read<&Place::position>, Read<&Swim::velocity>, With<Hunter>>(sea.database).in(sea.own());
    sea.world.schedule().add("carry",
                             {reads<&Place::position>(sea.database).in(sea.own()),
                              reads<&Swim::velocity>(sea.database).in(sea.own()), writes(sea.transforms)},
                             [&sea, sharks, carriers = std::vector<Entity>(),
                              poses = std::vector<Transform>()](PassContext& context) mutable {
                                 carriers.clear(), poses.clear();
                                 sharks.for_each([&](Entity shark, Vec3 position, Vec2 velocity) {
                                     carriers.push_back(shark);
                                     poses.push_back({.position = position, .rotation = turned_to(velocity)});
                                 });
                                 context.num_rows = sea.transforms.set_locals(carriers, poses, &context.executor);
                             });
    sea.world.schedule().add("attach", {writes(sea.transforms)}, [&sea](PassContext& context) {
        const std::uint64_t before = sea.transforms.counts().num_worlds_computed;
        sea.transforms.compute_moved(&context.executor);
        context.num_rows = sea.transforms.counts().num_worlds_computed - before;
    });
}

}  // namespace reef
