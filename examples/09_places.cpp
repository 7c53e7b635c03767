// Transforms with parents, one entity in two worlds, and point masses that move transforms.
#include <shoal/components/point_mass.h>
#include <shoal/transform/transform.h>
#include <shoal/world/world.h>

#include <cstdio>

using namespace shoal;

namespace {

void print(const char* what, const TransformManager& transforms, Entity entity) {
    const Vec3 place = transforms.world_position(transforms.instance(entity));
    std::printf("%-18s %5.1f %5.1f %5.1f\n", what, double(place.x), double(place.y), double(place.z));
}

}  // namespace

int main() {
    EntityManager entities;
    World sea(entities), chart(entities);  // two worlds that share entities
    auto& masses = sea.manager<PointMass>();
    TransformManager& places = sea.transforms({.mode = TransformMode::kDeferred});
    TransformManager& marks = chart.transforms();  // immediate: world poses are up to date when a call returns

    // Add a ship with a mast and a lamp in one call, which takes local poses and the index of each parent.
    Entity ship[3];
    const Transform locals[] = {{.position = {100, 0, 0}}, {.position = {0, 0, 8}}, {.position = {1, 0, 0}}};
    const std::uint32_t parents[] = {kNilRow, 0, 1};
    if (!entities.create(ship) || !places.add(ship, locals, parents)) return 1;
    if (!marks.add({ship, 1}, Transform{.position = {3, 4, 0}})) return 1;

    // The ship drifts. Its point mass starts at the transform, and from then on moves the transform.
    if (!masses.add(ship[0], PointMass{.mass = 9000, .velocity = {0, 2, 0}})) return 1;
    place_at_transforms(masses, places, ship);
    sea.schedule().add("drift", [&](PassContext& context) {
        simulate(masses, context.dt, context.executor);
        move_transforms(masses, places, &context.executor);
    });
    for (int frame = 0; frame < 10; ++frame) sea.step(0.5f);  // settling updates the world poses
    print("ship", places, ship[0]);
    print("lamp on its mast", places, ship[2]);
    print("ship on the chart", marks, ship[0]);

    // Unlink the lamp. It keeps its world position, and the mast still moves with the ship.
    places.unlink(places.instance(ship[2]));
    sea.step(10);
    print("ship, later", places, ship[0]);
    print("lamp, afloat", places, ship[2]);

    entities.destroy(ship[0]);  // each world removes it when it settles
    sea.settle();
    chart.settle();
    std::printf("%u places at sea, %u on the chart\n", places.num_rows(), marks.num_rows());
}
