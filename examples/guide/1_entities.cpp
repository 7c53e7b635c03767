// Step 1: entities and components. A rock is a number. Its position and its motion are a row of a table.
#include <shoal/world/world.h>

#include <cstdio>
#include <vector>

// [guide/body]
struct Body {
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, (position, unit("m")), (velocity, unit("m/s")))
// [guide/body]

int main() {
    using namespace shoal;
    // [guide/create]
    EntityManager entities;
    World world(entities);
    Manager<Body>& bodies = world.manager<Body>();

    std::vector<Entity> rocks(100);
    if (!entities.create(rocks)) return 1;  // a hundred numbers in one call
    if (!bodies.add(rocks, {.velocity = {1, 0, 0}})) return 1;
    // [guide/create]

    // [guide/fields]
    const Instance rock = bodies.instance(rocks[7]);  // one look-up,
    bodies.set<&Body::position>(rock, {0, 25, 0});    // many fields
    std::printf("rock 7 is at y = %g\n", bodies.get<&Body::position>(rock).y);

    float sum = 0;
    for (const Vec3& velocity : bodies.column<&Body::velocity>()) sum += velocity.x;
    std::printf("%u rocks, together %g m/s\n", bodies.num_rows(), sum);
    // [guide/fields]

    // [guide/destroy]
    entities.destroy(rocks[7]);
    std::printf("alive: %d, rows: %u\n", entities.alive(rocks[7]), bodies.num_rows());
    world.settle();  // stores remove the rows of the dead
    std::printf("alive: %d, rows: %u\n", entities.alive(rocks[7]), bodies.num_rows());
    // [guide/destroy]
    return 0;
}
